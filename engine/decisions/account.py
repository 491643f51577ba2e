"""What a rule saw at a decision, and why it left a request waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.decisions.decision import Decision
from engine.decisions.refusal import Refusal


def _not_told(request: int, batch: np.ndarray) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Account:
    """A walk along those who wait.

    Attributes
    ----------
    queue : (q,) int64, those who waited in the order in which they were considered, whom it
        admitted included; who is not in it comes after them, in no order
    refuse : (request, (b,) those in memory when it is tried) -> what keeps it out; None: nothing
    skip : how many that do not fit the walk passes over
    closed : why nobody at all was admitted
    apart : what keeps out a request that is not in the queue yet
    """

    queue: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    refuse: Callable[[int, np.ndarray], Refusal | None] = _not_told
    skip: int = 0
    closed: Refusal | None = None
    apart: Callable[[int], Refusal | None] = lambda request: None


@dataclass(frozen=True)
class Reason:
    """Why a request was not admitted at a decision.

    Attributes
    ----------
    decision : rounds that had ended
    refusal : what kept it out, or whom the walk stopped at
    ahead : how many were left waiting before it in the order; None where it has no place in it
    first : trace row of the first of them; None if none were
    blocker : trace row of whom the walk stopped at before it came to the request; None: it was
        tried itself, or nobody was
    skip : how many that did not fit the walk had passed over
    fitted : it would have fitted itself, had the walk come to it
    """

    decision: int
    refusal: Refusal
    ahead: int | None = 0
    first: int | None = None
    blocker: int | None = None
    skip: int = 0
    fitted: bool = False


def why(decision: Decision, account: Account, i: int) -> Reason | None:
    """Why request `i`, which waited at a decision, was not admitted; None where that is not told.

    Never a guess: what is named as refused has been put to the rule, which refused it.
    """
    at, row = decision.at, decision.workload.row
    in_queue = i in account.queue
    if not in_queue and (kept_apart := account.apart(i)):
        return Reason(at, kept_apart)
    if account.closed:
        return Reason(at, account.closed)
    queue = account.queue
    is_left = ~np.isin(queue, decision.joined)
    left = queue[is_left]
    place = int(np.flatnonzero(left == i)[0]) if in_queue else len(left)

    def refused(k: int) -> Refusal | None:
        """What keeps out the k-th of those left, after those admitted before it."""
        joined = queue[~is_left] if k >= len(left) else _before(queue, left[k])
        batch = np.concatenate([decision.stays, joined[np.isin(joined, decision.joined)]])
        return account.refuse(i if k >= len(left) else int(left[k]), batch)

    tried = min(place, account.skip)
    refusal = refused(tried) if tried < len(left) else None
    if refusal is None:
        return None
    first = int(row[left[0]]) if place else None
    ahead = place if in_queue else None
    if tried == place:
        return Reason(at, refusal, ahead, first, skip=place)
    blocker = int(row[left[tried]])
    return Reason(at, refusal, ahead, first, blocker, tried, fitted=refused(place) is None)


def _before(queue: np.ndarray, i: int) -> np.ndarray:
    """Those before request i."""
    return queue[: int(np.flatnonzero(queue == i)[0])]
