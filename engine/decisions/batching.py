"""vLLM's admission at one decision: memory, sequences, a round's tokens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.decisions.account import Account
from engine.decisions.decision import Decision
from engine.decisions.plans import recovering
from engine.decisions.present_use import over_use
from engine.decisions.refusal import AllSequences, ChunksFull, Refusal, RoundFull
from engine.simulate.preempting import Admission
from engine.simulate.timetable import NEVER

Tokens = Callable[[Decision, Admission, int, np.ndarray], Refusal | None]


def on_use(decision: Decision, rule: Admission, no_tokens_left: Tokens) -> Account:
    """Those preempted first, then in order of arrival.

    Parameters
    ----------
    no_tokens_left : (decision, rule, request, those in memory) -> whether the round has no
        tokens left for one whom memory and the number of sequences would take
    """
    memory_refuses = over_use(decision, rule.limit, rule.block)

    def refuse(i: int, batch: np.ndarray) -> Refusal | None:
        if len(batch) >= rule.max_num_seqs:
            return AllSequences(rule.max_num_seqs)
        return memory_refuses(i, batch) or no_tokens_left(decision, rule, i, batch)

    queue = np.concatenate(decision.returning_first(decision.turn))
    return Account(queue, refuse, closed=recovering(decision, rule.block))


def whole_prompts(
    decision: Decision, rule: Admission, i: int, batch: np.ndarray
) -> RoundFull | None:
    """A prompt has to fit in the round whole, or be the only one."""
    if rule.max_tokens == NEVER:
        return None
    joined = batch[np.isin(batch, decision.joined)]
    is_first = decision.lost_at(joined)[0] < 0
    prefilled = ~is_first & (not rule.swap) | is_first & (not decision.workload.with_cache)
    swapped = rule.swap and decision.lost_at(np.array([i]))[0][0] >= 0
    fresh, holding = joined[prefilled], int(decision.holding[i])
    taken = int(decision.holding[fresh].sum()) + len(batch) - len(fresh)
    more = 1 if swapped else holding
    if taken + more > rule.max_tokens and (len(fresh) or holding <= rule.max_tokens):
        return RoundFull(rule.max_tokens, taken, more)
    return None


def in_chunks(decision: Decision, rule: Admission, i: int, batch: np.ndarray) -> ChunksFull:
    """A prompt takes whatever is left of the round, so that who finds nothing finds it full.

    Asked only about those whom the rule has left waiting.
    """
    cached = decision.workload.with_cache & (decision.lost_at(decision.joined)[0] < 0)
    decoding = int(decision.decodes[batch].sum()) + int(cached.sum())
    return ChunksFull(rule.max_tokens, decoding)
