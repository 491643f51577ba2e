"""The distributions of the times a user feels, by policy and class, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine import wording
from engine.measure.league import Entry
from engine.measure.times import RequestTime

if TYPE_CHECKING:
    import pandas as pd

PERCENTS = (5, 25, 50, 75, 90, 95, 99)


def samples(entries: Sequence[Entry], time: RequestTime, name: str | None) -> dict[str, np.ndarray]:
    """Per entry label the values of a time, of one class or (None) of all requests."""
    values = {}
    for entry in entries:
        workload = entry.run.workload
        sample = time.of(entry.run)
        if name is not None:
            sample = sample[workload.class_of == workload.classes.index(name)]
        sample = sample[~np.isnan(sample)]
        if len(sample):
            values[entry.label] = sample
    return values


def quantile_table(values: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """One row a label: mean, the percentiles of PERCENTS, and the largest value."""
    import pandas as pd  # slow to import

    rows = []
    for label, sample in values.items():
        percentiles = np.percentile(sample, PERCENTS)
        rows.append(
            {
                "policy": label,
                "mean": sample.mean(),
                **{f"P{p}": value for p, value in zip(PERCENTS, percentiles, strict=True)},
                "max": sample.max(),
            }
        )
    return pd.DataFrame(rows)


def class_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """One row an entry: the mean latency of each class."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        [
            {
                "policy": entry.label,
                **{name: row["mean_latency"] for name, row in entry.numbers["classes"].items()},
            }
            for entry in entries
        ]
    )


def latency_headline(
    values: Mapping[str, np.ndarray], time: RequestTime, name: str | None, unit: str
) -> str:
    """Who is best at the median and at P99, in one sentence."""
    if not values:
        return f"There is nothing to show of {time.title}: no request has one here."
    whose = "" if name is None else f" of {name} requests"
    medians = {label: float(np.median(sample)) for label, sample in values.items()}
    tails = {label: float(np.percentile(sample, 99)) for label, sample in values.items()}
    median = _lowest(medians, f"median {time.title}{whose}", unit)
    return f"{median}. {_lowest(tails, 'P99', unit)}."


def _lowest(values: Mapping[str, float], what: str, unit: str) -> str:
    """Who has the lowest value, and who shares it."""
    least = min(values.values())
    tied = [f"**{label}**" for label, value in values.items() if value <= 1.005 * least]
    amount = wording.amount(least, unit)
    if len(tied) == len(values) > 1:
        return f"All policies have practically the same {what} ({amount})"
    verb = "has" if len(tied) == 1 else "have"
    return f"{wording.listed(tied)} {verb} the lowest {what} ({amount})"
