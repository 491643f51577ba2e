"""Two days side by side: the trace, and another like it with more or other load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine import wording
from engine.measure.league import label_of
from engine.measure.overload import verdict
from engine.simulate.run import Run

if TYPE_CHECKING:
    import pandas as pd


def days_table(today: Sequence[Run], other: Sequence[Run]) -> pd.DataFrame:
    """One row a policy that ran on both: mean and P99 latency of each day, and the load.

    Requests that cannot fit in M have a column where there are any: those of a day with
    fewer long requests may wait longer, because more of them are served at all.
    """
    import pandas as pd  # slow to import

    there = {label_of(run): run for run in other}
    table = pd.DataFrame(
        [
            {
                "Policy": label_of(run),
                "Mean, trace": wording.number(run.latency.mean()),
                "Mean, what if": wording.number(then.latency.mean()),
                "P99, trace": wording.number(np.percentile(run.latency, 99)),
                "P99, what if": wording.number(np.percentile(then.latency, 99)),
                "Set aside, trace": wording.count(len(run.set_aside)),
                "Set aside, what if": wording.count(len(then.set_aside)),
                "Load": verdict(then).kind,
            }
            for run in today
            if (then := there.get(label_of(run)))
        ]
    )
    if not any(len(run.set_aside) for run in [*today, *other]):
        table = table.drop(columns=["Set aside, trace", "Set aside, what if"], errors="ignore")
    return table


def days_in_words(today: Sequence[Run], other: Sequence[Run]) -> str:
    """What the other day does to the policy that is best on it."""
    best = min(other, key=lambda run: run.latency.mean())
    label, by_label = label_of(best), {label_of(run): run for run in today}
    then = best.latency.mean()
    sentence = f"**{label}** would have a mean latency of {wording.amount(then, best.unit)}"
    if label in by_label:
        sentence += f" instead of {wording.amount(by_label[label].latency.mean(), best.unit)}"
    load = verdict(best)
    return f"{sentence}. {load.in_words()}"
