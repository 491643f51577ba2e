"""The windows added up: one gap a schedule, its interval, and where in the trace it arises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine import wording
from engine.audit.interval import LEVEL, ratio_interval
from engine.audit.judge import MEASURED, Judged, WindowFinding
from engine.measure.overload import Verdict
from engine.measure.set_aside import NOBODY_ASIDE, SetAside

USUAL = "vllm"  # whose schedule is judged where nothing was measured and nobody named
IN_ENGINES = "fcfs"  # where an engine imposes its rules on every order
LOOSE = 1.5  # gap of the nearest schedule: above, the bound may well be what is far off


@dataclass(frozen=True, eq=False)
class RankedSchedule:
    """One schedule over all windows that were judged.

    Attributes
    ----------
    label, policy : as in `Judged.findings` and `Finding`
    findings : one a window, in order of time
    interval : of the gap, as ratios; None with one window
    failed : why it has no gap, where a window could not be served
    """

    label: str
    policy: str
    findings: tuple[WindowFinding, ...]
    interval: tuple[float, float] | None
    failed: str = ""

    @property
    def certified(self) -> bool:
        """Whether every window has a proof."""
        return not self.failed and all(finding.certified for finding in self.findings)

    @property
    def cost(self) -> float:
        return sum(finding.cost for finding in self.findings)

    @property
    def bound(self) -> float | None:
        return sum(f.least or 0.0 for f in self.findings) if self.certified else None

    @property
    def gap(self) -> float | None:
        """All windows' cost over all windows' bound; None unless each is certified."""
        return None if self.bound is None else self.cost / self.bound

    @property
    def every_run(self) -> bool:
        """Whether the bounds hold for schedules that preempt, too."""
        return all(f.bound is not None and f.bound.covers_preemption for f in self.findings)

    def is_above(self, percent: float) -> bool:
        """Whether the gap is above so many per cent, chance allowed for."""
        if self.gap is None:
            return False
        low = self.gap if self.interval is None else self.interval[0]
        return 100 * (low - 1) > percent


@dataclass(frozen=True, eq=False)
class Audit:
    """A trace, judged.

    Attributes
    ----------
    judged : the windows that were, in order of time
    windows : how many the trace has
    unit : of all times
    seed : of the intervals
    unit_seconds : how long a unit is on the wall clock of the trace; None where it has none
    overload : that the whole trace asks for more than there is; None where it does not
    requests : of the trace, those that never run among them
    set_aside : how many of them that are
    """

    judged: tuple[Judged, ...]
    windows: int
    unit: str
    seed: int = 0
    unit_seconds: float | None = None
    overload: Verdict | None = None
    requests: int = 0
    set_aside: SetAside = NOBODY_ASIDE

    @cached_property
    def ranking(self) -> list[RankedSchedule]:
        """What was measured first, then by gap; those without one last."""
        labels = dict.fromkeys(
            label for window in self.judged for label in [*window.findings, *window.failed]
        )
        return sorted(
            map(self._ranked, labels),
            key=lambda ranked: (ranked.policy != MEASURED, ranked.gap is None, ranked.gap or 0.0),
        )

    def _ranked(self, label: str) -> RankedSchedule:
        findings = tuple(w.findings[label] for w in self.judged if label in w.findings)
        why = [window.failed[label] for window in self.judged if label in window.failed]
        failed = f"in {len(why)} of {len(self.judged)} windows: {why[0]}" if why else ""
        interval = None
        if not failed and all(finding.certified for finding in findings):
            cost = np.array([finding.cost for finding in findings])
            bound = np.array([finding.least for finding in findings])
            interval = ratio_interval(cost, bound, self.seed)
        policy = findings[0].policy if findings else label.split()[0]
        return RankedSchedule(label, policy, findings, interval, failed)

    def judged_schedule(self, policy: str = USUAL) -> RankedSchedule:
        """What the audit is about: what was measured, else this policy, else the worst."""
        by_policy = {ranked.policy: ranked for ranked in reversed(self.ranking)}
        return by_policy.get(MEASURED) or by_policy.get(policy) or self.ranking[-1]

    def when(self, moment: float) -> str:
        """A time of the trace, on the wall clock where it has one: 1:02:03 h, or in rounds."""
        if self.unit_seconds is None:
            return wording.amount(round(moment), self.unit)
        return duration(moment * self.unit_seconds)

    def spans_of(self, ranked: RankedSchedule) -> list[Judged]:
        """The windows of a schedule's findings."""
        return [window for window in self.judged if ranked.label in window.findings]


def headline(audit: Audit, judged: RankedSchedule) -> str:
    """The audit in one sentence: how far the schedule was, and how near another would be.

    A trace that is too much for the server is called so before any number: windows begin
    empty, and hide it.
    """
    sentence = _how_far(audit, judged)
    if audit.overload is None:
        return sentence
    return (
        f"Overloaded (the requests need {audit.overload.need}): {sentence[0].lower()}{sentence[1:]}"
    )


def _how_far(audit: Audit, judged: RankedSchedule) -> str:
    who = "The measured schedule" if judged.policy == MEASURED else f"**{judged.label}**"
    if judged.gap is None:
        return f"{who} has no gap: {judged.failed or 'no certified bound covers its runs'}."
    if judged.gap < 1:
        return (
            f"{who} is faster than this clock and M allow: they do not describe that server. "
            "Calibrate the round times and check M."
        )
    was = "was" if judged.policy == MEASURED else "is"
    sentence = (
        f"{who} {was} at most {_gap_in_words(judged, judged.gap)} from {_best_possible(judged)}"
    )
    nearer = [
        ranked
        for ranked in audit.ranking
        if ranked.gap and ranked is not judged and ranked.gap < judged.gap
    ]
    best = min(nearer, key=lambda ranked: ranked.gap or np.inf, default=judged)
    nearest = best.gap or judged.gap
    loose = " (the bound may be loose)" if nearest > LOOSE else ""
    if not nearer:
        return f"{sentence}{loose}."
    less = "" if best.every_run or not judged.every_run else f" from {_best_possible(best)}"
    gap = wording.percent(nearest - 1)
    return f"{sentence}; **{best.label}** would be at most {gap}{less}{loose}."


def _gap_in_words(ranked: RankedSchedule, ratio: float) -> str:
    gap = wording.percent(ratio - 1)
    if ranked.interval is None:
        return gap
    low, high = (wording.percent(end - 1) for end in ranked.interval)
    return f"{gap} ({100 * LEVEL:.0f}{wording.THIN}% interval {low} to {high})"


def _best_possible(ranked: RankedSchedule) -> str:
    every = ranked.every_run
    return "the best possible" if every else "the best possible without preemption"


def where_it_arises(audit: Audit, ranked: RankedSchedule) -> str:
    """In which part of the trace most of the excess over the bound lies; nothing without one."""
    excess = np.array([finding.excess for finding in ranked.findings])
    if not ranked.certified or len(excess) < 2 or excess.sum() <= 0:
        return ""
    by_size = np.argsort(-excess, kind="stable")
    half = int(np.searchsorted(np.cumsum(excess[by_size]), excess.sum() / 2)) + 1
    worst = audit.spans_of(ranked)[by_size[0]]
    return (
        f"Half of the excess of {ranked.label} arises in {wording.percent(half / len(excess))} "
        f"of the windows, most from {audit.when(worst.begin)} to {audit.when(worst.end)}."
    )


def duration(seconds: float) -> str:
    """1:02:03 h."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}{wording.THIN}h"
