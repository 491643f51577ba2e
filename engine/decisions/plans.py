"""Look-ahead admission, asked about one request at one decision (docs/model.md 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.decisions.account import Account
from engine.decisions.decision import Decision
from engine.decisions.refusal import OverPlan, PlannedFor, RanOut
from engine.simulate.preempting import admission_limit


@dataclass(frozen=True, eq=False)
class Plans:
    """What look-ahead reckons with.

    Attributes
    ----------
    decision : when
    predicted : (n,) int64, output tokens
    limit : tokens that admission may plan to fill; M on an empty server
    tenths : by how many tenths of its generated tokens a request is expected to go on
    """

    decision: Decision
    predicted: np.ndarray
    limit: int
    tenths: int = 0

    def ends(self, who: np.ndarray) -> np.ndarray:
        """(k,) int64 rounds in which these complete as planned, if they run from now on."""
        generated = self.decision.generated[who]
        stretched = np.maximum(generated + generated * self.tenths // 10, generated + 1)
        room = self.decision.memory - self.decision.workload.prompt[who]
        planned = np.minimum(np.maximum(self.predicted[who], stretched), room)
        return self.decision.at + planned - generated

    def refuse(self, i: int, batch: np.ndarray) -> OverPlan | None:
        """The round that would overflow most, up to the request's own end if one does."""
        if not len(batch):
            return None
        decision, output = self.decision, self.decision.workload.output
        end, ends = int(self.ends(np.array([i]))[0]), self.ends(batch)
        moments = np.union1d(ends, [end])
        over = self._used(batch, ends, moments) - self.limit
        holding = decision.workload.prompt[i] + decision.generated[i]
        over += (moments <= end) * (holding + moments - decision.at)
        alone = not (over[moments <= end] > 0).any()
        worst = int(np.where((moments <= end) | alone, over, over.min()).argmax())
        if over[worst] <= 0:
            return None
        full_at = int(moments[worst])
        who = np.append(batch, i)
        left = output[who] - decision.generated[who]
        return OverPlan(
            full_at=full_at,
            missing=int(over[worst]),
            limit=self.limit,
            finishing=tuple(decision.workload.row[batch[ends == full_at]].tolist()),
            alone=alone,
            by_plan=bool((np.append(ends, end) != decision.at + left).any()),
        )

    def _used(self, batch: np.ndarray, ends: np.ndarray, moments: np.ndarray) -> np.ndarray:
        """(m,) int64 tokens that the batch holds at these moments, if all ends as planned."""
        by_end = np.argsort(ends)
        held = self.decision.holding[batch[by_end]]
        gone = np.searchsorted(ends[by_end], moments, side="left")
        total = np.append(0, np.cumsum(held))
        return total[-1] - total[gone] + (len(batch) - gone) * (moments - self.decision.at)


def limit_of(decision: Decision) -> int:
    """The tokens that plans may fill: M, less the policy's margin."""
    return admission_limit(decision.memory, decision.params.get("margin", 0.0))


def recovering(decision: Decision, block: int = 1) -> RanOut | None:
    """Why nobody is admitted where memory ran out; None where it did not."""
    if not len(decision.put_out):
        return None
    return RanOut(len(decision.put_out), decision.overflow(block))


def along_walk(decision: Decision) -> Account:
    """A fixed order under look-ahead, in which those preempted go first."""
    walk = decision.schedule.walk
    assert walk is not None, "of a policy that is an order"
    rank = np.empty(len(walk.order), np.int64)
    rank[walk.order] = np.arange(len(walk.order))
    predicted = decision.workload.output if walk.planned is None else walk.planned
    return Account(
        np.concatenate(decision.returning_first(rank)),
        Plans(decision, predicted, limit_of(decision)).refuse,
        walk.skip,
        recovering(decision),
    )


def as_planned(decision: Decision) -> Account:
    """A schedule made beforehand, or its order where it could not be kept."""
    if decision.schedule.walk is not None:
        return along_walk(decision)
    start = decision.schedule.start
    return Account(apart=lambda i: PlannedFor(int(start[i])))


def in_order_of_arrival(decision: Decision, plans: Plans) -> Account:
    """Those preempted first, then in order of arrival."""
    queue = np.concatenate(decision.returning_first(decision.turn))
    return Account(queue, plans.refuse, closed=recovering(decision))
