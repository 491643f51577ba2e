"""Who pays for a better mean: requests that finish later than under another policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine import wording
from engine.measure.league import Entry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PriceOfFairness:
    """What one class gains and loses by a change of policy.

    Attributes
    ----------
    name : of the class
    later : share of its requests that finish later
    mean_change : of its mean latency, clock units; negative is a gain
    worst : the largest increase of a request's latency, clock units; 0 if none
    """

    name: str
    later: float
    mean_change: float
    worst: float


def _changes(chosen: Entry, rival: Entry) -> tuple[np.ndarray, np.ndarray]:
    """By how much the latency of each request that both served changes, and its class."""
    ours, theirs = chosen.run.workload, rival.run.workload
    _, here, there = np.intersect1d(ours.row, theirs.row, return_indices=True)
    return chosen.run.latency[here] - rival.run.latency[there], ours.class_of[here]


def who_pays(chosen: Entry, rival: Entry) -> list[PriceOfFairness]:
    """The change from `rival` to `chosen`, by class, of the requests that both served."""
    change, class_of = _changes(chosen, rival)
    prices = []
    for number, name in enumerate(chosen.run.workload.classes):
        change_of_class = change[class_of == number]
        if len(change_of_class):
            worst = float(max(0.0, change_of_class.max()))
            prices.append(
                PriceOfFairness(
                    name, float((change_of_class > 0).mean()), float(change_of_class.mean()), worst
                )
            )
    return prices


def price_table(prices: list[PriceOfFairness]) -> pd.DataFrame:
    """One row a class, written for people."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        {
            "Requests": [price.name for price in prices],
            "Finish later": [wording.percent(price.later) for price in prices],
            "Change of the mean": [wording.change(price.mean_change) for price in prices],
            "Largest delay": [wording.number(price.worst) for price in prices],
        }
    )


def in_words(chosen: Entry, rival: Entry) -> str:
    """One sentence on the price of the change."""
    change, _ = _changes(chosen, rival)
    later = float((change > 0).mean()) if len(change) else 0.0
    worst = float(np.max(change, initial=0.0))
    if later == 0:
        return f"No request finishes later under {chosen.label} than under {rival.label}."
    return (
        f"Under **{chosen.label}** {wording.percent(later)} of the requests finish later than "
        f"under **{rival.label}**, the worst by {wording.amount(worst, chosen.run.unit)}."
    )
