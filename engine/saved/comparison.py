"""Two views side by side: what was changed, and what that did to every policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine import wording
from engine.measure.overload import OVERLOADED
from engine.saved.snapshot import Snapshot

SAME = 0.005  # a change of a mean that is called none
MOST_TOLD = 3  # changes in a sentence


@dataclass(frozen=True)
class Change:
    """A fact that differs; None where one of the views has no such fact."""

    name: str
    before: Any
    after: Any

    @property
    def written_before(self) -> str:
        return wording.told(self.before)

    @property
    def written_after(self) -> str:
        return wording.told(self.after)

    def __str__(self) -> str:
        return f"{self.name} {self.written_before} → {self.written_after}"


@dataclass(frozen=True)
class ChangeEffect:
    """One policy in both views.

    Attributes
    ----------
    policy : its label
    before, after : its results
    """

    policy: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def overloaded(self) -> str:
        """Where it is overloaded: `before`, `after`, `both`, or empty."""
        at = [side for side in ("before", "after") if getattr(self, side)["load"] == OVERLOADED]
        return "both" if len(at) == 2 else "".join(at)

    @property
    def is_timed(self) -> bool:
        """Whether both have a mean latency."""
        return "mean_latency" in self.before and "mean_latency" in self.after

    @property
    def gain(self) -> float | None:
        """The change of the mean latency as a share; None without one or a steady state."""
        if self.overloaded or not self.is_timed or not self.before["mean_latency"]:
            return None
        return self.after["mean_latency"] / self.before["mean_latency"] - 1


@dataclass(frozen=True)
class Difference:
    """What is different.

    Attributes
    ----------
    changes : of what the results depend on
    effects : on the policies that both views have; none where their times have other units
    unit : of those times
    same_engine : whether one version of the engine computed both
    """

    changes: tuple[Change, ...]
    effects: tuple[ChangeEffect, ...]
    unit: str
    same_engine: bool

    def in_words(self) -> str:
        """The answer in one sentence."""
        what = _what_changed(self.changes)
        timed = [effect for effect in self.effects if effect.is_timed]
        if not self.changes or not timed:
            return f"{what}."
        return f"{what}: {_effect_in_words(_clearest(timed), self.unit)}."


def compare(before: Snapshot, after: Snapshot) -> Difference:
    """From one view to another."""
    names = dict.fromkeys([*before.facts, *after.facts])
    changes = tuple(
        Change(name, before.facts.get(name), after.facts.get(name))
        for name in names
        if before.facts.get(name) != after.facts.get(name)
    )
    alike = before.unit == after.unit
    effects = _effects(before.results, after.results) if alike else ()
    return Difference(changes, effects, before.unit, before.engine == after.engine)


def _effects(before: Sequence[Mapping], after: Sequence[Mapping]) -> tuple[ChangeEffect, ...]:
    later = {result["policy"]: result for result in after}
    return tuple(
        ChangeEffect(result["policy"], result, later[result["policy"]])
        for result in before
        if result["policy"] in later
    )


def _clearest(effects: Sequence[ChangeEffect]) -> ChangeEffect:
    """The quickest policy of those that the change touches."""
    touched = [effect for effect in effects if abs(effect.gain or 0.0) >= SAME]
    return min(touched or effects, key=lambda effect: effect.after["mean_latency"])


def _what_changed(changes: Sequence[Change]) -> str:
    if not changes:
        return "Nothing was changed"
    fields = "; ".join(str(change) for change in changes[:MOST_TOLD])
    if len(changes) == 1:
        return f"One field changed, {fields}"
    more = "; …" if len(changes) > MOST_TOLD else ""
    return f"{wording.count(len(changes))} fields changed, {fields}{more}"


def _effect_in_words(effect: ChangeEffect, unit: str) -> str:
    name = f"**{effect.policy}**"
    if effect.overloaded:
        return {
            "both": f"{name} is overloaded in both, and its latencies grow with the horizon",
            "before": f"{name} was overloaded and now keeps up",
            "after": f"{name} kept up and is now overloaded",
        }[effect.overloaded]
    if effect.gain is None or abs(effect.gain) < SAME:
        return f"{name} has practically the same mean latency"
    verb = "falls" if effect.gain < 0 else "rises"
    mean = wording.amount(effect.after["mean_latency"], unit)
    change = f"the mean latency of {name} {verb} by {wording.percent(abs(effect.gain))}, to {mean}"
    gaps = effect.before.get("gap"), effect.after.get("gap")
    if None in gaps:
        return change
    return f"{change}, its gap goes from {wording.gap(gaps[0])} to {wording.gap(gaps[1])}"
