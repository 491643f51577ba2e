"""Where the runs lose against the bound: in their order, in idle memory, by giving up cache.

Prices that prove a bound also say what every token of memory was worth in every round, so
the gap between a run and the bound splits exactly (engine/proof/dual). A run is split by the best
of the bounds that cover it and have prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.bound import Bound, best_cover
from engine.measure.league import PROVED, Entry
from engine.proof.dual import gap_split
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule

MOSTLY = 0.6  # of the gap: from here on one part dominates


@dataclass(frozen=True)
class Loss:
    """One run's gap, split.

    Attributes
    ----------
    label, policy : what the user calls the run, and its policy
    bound, value : the bound that covers it, and its value in rounds
    ordering : rounds lost as others should have gone first
    idle : rounds lost as memory stood empty while it had a price
    given_up : rounds lost as memory was held to no avail by requests that lost it later
    """

    label: str
    policy: str
    bound: str
    value: float
    ordering: float
    idle: float
    given_up: float

    @property
    def rounds(self) -> float:
        """The whole gap, rounds."""
        return self.ordering + self.idle + self.given_up

    @property
    def gap(self) -> float:
        """Total latency over the bound, as engine.bound.gap has it."""
        return 1 + self.rounds / self.value

    @property
    def parts(self) -> dict[str, float]:
        """Rounds by the name of the part, the same three for every run."""
        return {"ordering": self.ordering, "idle memory": self.idle, "lost cache": self.given_up}

    def share(self, part: str) -> float:
        """That part of the gap, 0 to 1; 0 where there is no gap to speak of."""
        return self.parts[part] / self.rounds if self.gap >= PROVED else 0.0


def pricing_bound(entry: Entry, bounds: Iterable[Bound]) -> Bound | None:
    """The best bound with prices that covers the entry's run, or None; of one server only."""
    if entry.run.replicas > 1:
        return None
    return best_cover(entry.run, [bound for bound in bounds if bound.prices is not None])


def loss_of(entry: Entry, bound: Bound) -> Loss:
    """The gap of an entry to a bound that covers it, split by the bound's prices."""
    splits = [
        gap_split(part, prices.by_round)
        for part, prices in zip(_by_period(entry.run, bound), bound.prices or (), strict=True)
    ]
    return Loss(
        entry.label,
        entry.run.policy,
        bound.bound,
        bound.value,
        sum(split.ordering for split in splits),
        max(0.0, sum(split.idle for split in splits)),
        max(0.0, sum(split.given_up for split in splits)),
    )


def _by_period(run: Run, bound: Bound) -> list[Schedule]:
    """The requests of each busy period that the bound has prices for, as they ran."""
    begins = np.array([prices.begin for prices in bound.prices or ()])
    period = np.searchsorted(begins, run.workload.arrival, side="right") - 1
    return [
        run.schedule.only(np.flatnonzero(period == p), begin)
        for p, begin in enumerate(begins.tolist())
    ]


def losses_in_words(losses: Sequence[Loss]) -> str:
    """What the best run loses by, and the worst where that is something else."""
    best, worst = losses[0], losses[-1]
    sentences = [_in_words(best)]
    if worst is not best and _main_part(worst) != _main_part(best):
        sentences.append(_in_words(worst))
    return " ".join(sentences)


def _main_part(loss: Loss) -> str | None:
    """The part that dominates, if one does."""
    part = max(loss.parts, key=lambda name: loss.parts[name])
    return part if loss.share(part) >= MOSTLY else None


MEANING = {
    "ordering": "its order: other requests should have gone first",
    "idle memory": "idle memory: tokens that stood empty while they had a price",
    "lost cache": "cache that was held and then thrown away",
}


def _in_words(loss: Loss) -> str:
    gap = f"The gap of **{loss.label}**, {wording.percent(loss.gap - 1)},"
    if loss.gap < PROVED:
        return f"**{loss.label}** has nothing to lose: it meets the bound {loss.bound}."
    part = _main_part(loss)
    if part is not None:
        return f"{gap} comes to {wording.percent(loss.share(part))} from {MEANING[part]}."
    shares = [
        f"{wording.percent(loss.share(name))} {name}"
        for name in loss.parts
        if loss.share(name) >= 0.01
    ]
    return f"{gap} has no one cause: it is {' and '.join(shares)}."
