"""Several runs side by side: the league table and what it says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from engine import wording
from engine.bound import Bound, best_cover, gap
from engine.choice import Choice
from engine.measure.metrics import LEAGUE, METRICS, shown_in, summary, written_columns
from engine.measure.overload import OVERLOADED, Verdict, verdict
from engine.policy import find_policy
from engine.simulate.run import Run

if TYPE_CHECKING:
    import pandas as pd

PROVED = 1.0005  # a gap that would be written as 0.0 %
TIED = 1.005  # mean latencies nearer than this are called the same

# What is computed from a run is kept as long as the run is.
_NUMBERS: WeakKeyDictionary[Run, tuple[Mapping, Verdict]] = WeakKeyDictionary()


def _numbers_of(run: Run) -> tuple[Mapping, Verdict]:
    if run not in _NUMBERS:
        _NUMBERS[run] = summary(run), verdict(run)
    return _NUMBERS[run]


@dataclass(frozen=True)
class Entry:
    """One run's place in the league.

    Attributes
    ----------
    label : what the user calls it (the policy, with parameters that are not the default)
    run, numbers : the run and its `metrics.summary`
    cover : the best bound that covers the run, or None
    gap : total latency over it, or None
    verdict : whether the server carries this load
    """

    label: str
    run: Run
    numbers: Mapping
    cover: Bound | None
    gap: float | None
    verdict: Verdict

    @property
    def choice(self) -> Choice:
        """The policy with its parameters."""
        return Choice(self.run.policy, tuple(self.run.params.items()), self.run.engine)

    @property
    def mean(self) -> float:
        return self.numbers["mean_latency"]

    @property
    def is_overloaded(self) -> bool:
        """Whether its latencies grow with the horizon."""
        return self.verdict.kind == OVERLOADED

    @property
    def best_possible(self) -> str:
        """What the covering bound says nothing can beat."""
        every = self.cover is not None and self.cover.covers_preemption
        return "the best possible" if every else "the best possible without preemption"


def label_of(run: Run) -> str:
    """What users call the policy with the parameters of this run."""
    return find_policy(run.policy).label(run.params)


def entry_of(run: Run, bounds: Sequence[Bound]) -> Entry:
    """A run with its numbers, its verdict, and its gap to the best of the bounds that cover it."""
    numbers, load = _numbers_of(run)
    return Entry(label_of(run), run, numbers, best_cover(run, bounds), gap(run, bounds), load)


def league(runs: Sequence[Run], bounds: Sequence[Bound]) -> list[Entry]:
    """Entries by ascending mean latency."""
    return sorted((entry_of(run, bounds) for run in runs), key=lambda entry: entry.mean)


def league_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """One row an entry, numbers unrounded, times in the clock's unit, gap in percent."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        [
            {
                "policy": entry.label,
                **{name: entry.numbers[name] for name in METRICS},
                "gap_percent": np.nan if entry.gap is None else 100 * (entry.gap - 1),
                "against": entry.cover.bound if entry.cover else "no bound covers it",
                "load": entry.verdict.kind,
            }
            for entry in entries
        ]
    )


def written_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """One row an entry in words, for people; a column that would say nothing is left out."""
    import pandas as pd  # slow to import

    table = league_table(entries)
    written = written_columns([entry.numbers for entry in entries], LEAGUE)
    shown = pd.DataFrame(
        {
            "Policy": table["policy"],
            **{metric.heading: column for metric, column in written.items()},
            "Set aside": [wording.count(len(entry.run.set_aside)) for entry in entries],
            "Unserved": [wording.count(len(entry.run.unserved)) for entry in entries],
            "Above bound": [wording.gap(entry.gap) for entry in entries],
            "Load": table["load"],
        }
    )
    empty = {
        "Load": all(entry.verdict.kind == "backlog" for entry in entries),
        "Set aside": not any(len(entry.run.set_aside) for entry in entries),
        "Unserved": not any(len(entry.run.unserved) for entry in entries),
    }
    return shown.drop(columns=[title for title, nothing in empty.items() if nothing])


def explain_columns(unit: str) -> dict[str, str]:
    """What each column of the written table means, times in `unit`."""
    return {
        **{metric.heading: metric.help(unit) for metric in shown_in(LEAGUE)},
        "Set aside": "Need more than M or are longer than max_model_len, and never run.",
        "Unserved": "Gave up or were turned away; latencies are of the others.",
        "Above bound": "Total latency above the best certified bound that covers the run.",
        "Load": "Overloaded: more arrives than is served, and latency grows with the horizon.",
    }


def compare_means(quick: float, slow: float, rival: str) -> str:
    """How a mean latency of `quick` relates to the rival's larger one, as a verb phrase."""
    times = slow / quick
    if times < 1.02:
        return f"has practically the same mean latency as **{rival}**"
    if times < 1.9:
        return f"cuts the mean latency of **{rival}** by {wording.percent(1 - quick / slow)}"
    if times < 2.15:
        return f"halves the mean latency of **{rival}**"
    return f"cuts the mean latency of **{rival}** {wording.ratio(times)}"


def rival_of(entries: Sequence[Entry]) -> Entry:
    """Whom to compare the best with: `vllm`, what people run, else `fcfs`, else the last."""
    others = {entry.run.policy: entry for entry in entries[1:]}
    return others.get("vllm") or others.get("fcfs") or entries[-1]


def headline(entries: Sequence[Entry]) -> str:
    """The league in one sentence: the best against its rival, and against the best possible."""
    best, rival = entries[0], rival_of(entries)
    tied = [entry.label for entry in entries if entry.mean <= TIED * best.mean]
    growing = best.is_overloaded or rival.is_overloaded
    if growing:
        first = _overloaded_in_words(best, rival)
    elif best is rival:
        first = f"**{best.label}** has a mean latency of {wording.amount(best.mean, best.run.unit)}"
    elif len(tied) == len(entries):
        first = "All policies have practically the same mean latency here; the best"
    else:
        first = f"**{best.label}** {compare_means(best.mean, rival.mean, rival.label)} here"
    if 1 < len(tied) < len(entries) and not growing:
        first = f"{first} (tied with {', '.join(tied[1:])})"
    if best.gap is None and best.run.workload.depends_on_run:
        return f"{first}; no bound holds, as who is served depends on the policy."
    if best.gap is None:
        return f"{first}; no certified bound covers its run yet."
    if growing:
        return f"{first}; on these requests {best.label} is {_distance(best)}."
    joint = "" if first.endswith("the best") else " and"
    return f"{first}{joint} is {_distance(best)}."


def _overloaded_in_words(best: Entry, rival: Entry) -> str:
    """No factor between means where one grows with the horizon (docs/model.md 4)."""
    if best is rival:
        return f"**{best.label}** is overloaded here"
    if not best.is_overloaded:
        return f"**{best.label}** {_fares(best)} here, where **{rival.label}** is overloaded"
    other = "is too" if rival.is_overloaded else _fares(rival)
    return (
        f"**{best.label}** has the lowest mean of this run but is overloaded, "
        f"**{rival.label}** {other}"
    )


def _fares(entry: Entry) -> str:
    return "keeps up" if entry.verdict.keeps_up else "sheds load"


def is_proved_best(entry: Entry) -> bool:
    """Whether the entry meets a bound that covers it."""
    return entry.gap is not None and entry.gap < PROVED


def _distance(entry: Entry) -> str:
    """How far a covered entry can be from the best there is."""
    if is_proved_best(entry):
        return f"proved to be {entry.best_possible}"
    return f"at most {wording.percent((entry.gap or 1.0) - 1)} from {entry.best_possible}"


def gap_headline(entries: Sequence[Entry]) -> str:
    """How far the best entry that a bound covers can be from the best possible."""
    covered = [(entry, entry.cover) for entry in entries if entry.cover and entry.gap is not None]
    if not covered:
        return "No certified bound covers these runs yet: compute one that does."
    best, cover = covered[0]
    total = wording.total(best.numbers["total_latency"])
    return (
        f"**{best.label}** is {_distance(best)}: its total latency is {total} "
        f"{wording.in_number(total, best.run.unit)}, "
        f"and the bound {cover.bound} is {wording.total(cover.value)}."
    )


def coverage_table(entries: Sequence[Entry], bounds: Sequence[Bound]) -> pd.DataFrame:
    """One row an entry, one column a bound: the gap, or why there is none."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        [
            {
                "Policy": entry.label,
                **{bound.bound: _gap_or_reason(entry.run, bound) for bound in bounds},
            }
            for entry in entries
        ]
    )


def _gap_or_reason(run: Run, bound: Bound) -> str:
    if bound.covers(run):
        return wording.gap(gap(run, [bound]))
    return why_uncovered(run, [bound])


def why_uncovered(run: Run, bounds: Sequence[Bound]) -> str:
    """Why none of the bounds covers a run, in the words of a table's cell."""
    if run.workload.depends_on_run:
        return "requests depend on the policy"
    certified = [bound for bound in bounds if bound.certified]
    if not certified:
        return "not certified"
    if not any(bound.requests in (None, len(run.workload)) for bound in certified):
        return "other requests"
    gave_up = run.gave_up_kv and not any(bound.covers_preemption for bound in certified)
    return "gave up KV" if gave_up else "cut prompts"
