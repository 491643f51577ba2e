"""Admission inside an engine, asked about one request at one decision (docs/model.md 1.7)."""

from __future__ import annotations

import numpy as np

from engine.decisions.account import Account
from engine.decisions.decision import Decision
from engine.decisions.refusal import (
    AllSequences,
    ChunksFull,
    OverBlocks,
    OverPromises,
    RanOut,
    Refusal,
    RoundFull,
)
from engine.simulate.blocks import Steps


class Inside:
    """What an engine saw at a decision.

    Parameters
    ----------
    rank : (n,) int64, the place of each request in the policy's order
    """

    def __init__(self, decision: Decision, steps: Steps, rank: np.ndarray) -> None:
        self._decision, self._steps, self._rank = decision, steps, rank
        log, at = decision.schedule.residencies, decision.at
        grown = np.clip(at - log.begin, 0, log.end - log.begin) * log.grows
        n = len(decision.workload)
        # A round of growth is a token made, also of those whose cache was lost since.
        self._made = np.bincount(log.request, weights=grown, minlength=n).astype(np.int64)
        self._after, self._before = np.zeros((2, n), np.int64)
        within = (log.begin <= at) & (log.end > at)
        self._after[log.request[within]] = (log.held + log.grows * (at + 1 - log.begin))[within]
        stays = self._begun()  # of a stay in memory, once it has made a token, it decodes
        has_made = np.isin(stays, stays[(log.grows == 1) & (log.begin < at)])
        self._decodes = np.zeros(n, bool)
        self._decodes[log.request[within & has_made]] = True
        ended = (log.begin < at) & (log.end >= at)
        held = log.held + log.grows * (at - log.begin)
        self._before[log.request[ended]] = held[ended]

    def account(self) -> Account:
        """The queue, and why its head is not admitted."""
        lost = self._decision.put_out
        closed = RanOut(len(lost)) if len(lost) else None
        return Account(self._queue(), self._refuse, closed=closed)

    def _queue(self) -> np.ndarray:
        """Those preempted first where they are the newest, else all in the policy's order."""
        decision = self._decision
        who = decision.candidates
        if not self._steps.newest:
            return decision.ascending(who, self._rank)
        when, place = decision.lost_at(who)
        back = when >= 0
        admitted = self._begun()[place]
        returning = who[back][np.lexsort((admitted[back], -when[back]))]
        return np.concatenate([returning, decision.ascending(who[~back], self._rank)])

    def _begun(self) -> np.ndarray:
        """(k,) int64: of every residency, the first of those in which its request stayed on."""
        schedule = self._decision.schedule
        by_request = np.argsort(schedule.residencies.request, kind="stable")
        goes_on = np.isin(by_request, schedule.joints[1])
        first = np.maximum.accumulate(np.where(goes_on, 0, np.arange(len(by_request))))
        begun = np.empty_like(by_request)
        begun[by_request] = by_request[first]
        return begun

    def _tokens(self, who: np.ndarray) -> np.ndarray:
        """(k,) int64: what each does in the round that follows."""
        new = self._after[who] - 1 - self._steps.standing
        goes_on = np.isin(who, self._decision.stays)
        return np.where(goes_on, self._after[who] - self._before[who], new)

    def _refuse(self, i: int, batch: np.ndarray) -> Refusal | None:
        """What keeps the head of the queue out."""
        steps, tokens = self._steps, self._tokens(batch)
        if len(batch) >= steps.max_num_seqs:
            return AllSequences(steps.max_num_seqs)
        left = steps.max_tokens - int(tokens.sum())
        decoding = int((self._decodes[batch] & (tokens > 0)).sum())
        if left <= 0:
            return ChunksFull(steps.max_tokens, decoding)
        wanted = int(self._decision.workload.prompt[i] + self._made[i])
        chunk = min(wanted, left) if steps.cut else wanted
        alone = int(tokens.sum()) == decoding and chunk > steps.max_tokens
        if chunk > left and not alone:
            return RoundFull(steps.max_tokens, int(tokens.sum()), chunk)
        return self._over(i, batch, wanted if steps.whole_input else chunk)

    def _over(self, i: int, batch: np.ndarray, asked: int) -> Refusal | None:
        """The blocks that are missing."""
        steps = self._steps
        kept = steps.kept if len(batch) else 0
        if steps.reserved > 0:
            promised = int(self._promised(batch).sum())
            more = int(self._promised(np.array([i]))[0])
            left = steps.total - kept - promised
            return OverPromises(more, left, steps.block) if more > left else None
        used = int((-(-self._after[batch] // steps.block)).sum())
        more = -(-(asked + 1 + steps.standing) // steps.block)
        left = steps.total - kept - used
        return OverBlocks(more, left, steps.block, kept) if more > left else None

    def _promised(self, who: np.ndarray) -> np.ndarray:
        """(k,) int64: the blocks that are kept for each of these."""
        workload, steps = self._decision.workload, self._steps
        most = np.maximum(steps.reserved, workload.output[who])
        blocks = -(-(workload.prompt[who] + most + steps.standing) // steps.block)
        return np.minimum(steps.total, blocks)
