"""Admission on present use, asked about one request at one decision (docs/model.md 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.decisions.account import Account
from engine.decisions.decision import Decision, in_blocks
from engine.decisions.plans import recovering
from engine.decisions.refusal import OverUse, RanOut
from engine.simulate.preempting import admission_limit


def over_use(
    decision: Decision, limit: int, block: int = 1
) -> Callable[[int, np.ndarray], OverUse | None]:
    """Refuses who would take the next round above the limit; above M on an empty server.

    Those who rest in memory hold what they hold, the others need a token more.
    """
    full = decision.memory // block * block

    def refuse(i: int, batch: np.ndarray) -> OverUse | None:
        within = limit if (~decision.rests[batch]).any() else full
        next_round = decision.holding[batch] + ~decision.rests[batch]
        used = int(in_blocks(next_round, block).sum())
        more = int(in_blocks(decision.holding[i] + 1, block))
        refusal = OverUse(used, more, within, block)
        return refusal if refusal.missing > 0 else None

    return refuse


def by_rank(
    decision: Decision, rank: np.ndarray, limit: int, closed: RanOut | None = None
) -> Account:
    """Who waits, by (n,) rank and in order of arrival, on present use."""
    queue = decision.ascending(decision.candidates, rank)
    return Account(queue, over_use(decision, limit), closed=closed)


def below_protected(decision: Decision) -> Account:
    """In order of arrival below (1 - alpha) M; nobody where others still run after a clearing."""
    limit = admission_limit(decision.memory, decision.params["alpha"])
    closed = recovering(decision) if len(decision.stays) else None
    return by_rank(decision, decision.turn, limit, closed)
