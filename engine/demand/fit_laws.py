"""The laws of a trace: which kinds of requests, how long, and how they come over the day.

A trace is one draw. Its laws give others like it, and what-ifs: the same day at twice the
load, or with half the long requests.

*Kinds*: short and long are parted where the logarithms of s + o have the largest variance
between the parts (Otsu's threshold, found exactly). Each kind gets tables of quantiles,
that of its outputs by ranges of its prompts, as the two are related.

*Arrivals*: how many requests came in each equal slice of the trace is its daily curve. Time
is stretched so that the curve becomes flat; how unevenly requests come on that stretched
time (coefficient of variation of the gaps) is the burstiness. New arrivals are gamma gaps
with this burstiness, squeezed back under the curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.demand.arrivals import arrival_times
from engine.demand.request_class import RequestClass
from engine.demand.scenario import RANGES, Scenario
from engine.fields import build, number_in
from engine.workload import Workload

SLICES = 24  # of the trace; hours where it is a day
A_SLICE = 50  # requests it takes at least
LEVELS = np.append(np.arange(100) / 100, [0.995, 0.999, 1.0])
PROMPT_GROUPS = 10
A_GROUP = 100  # requests it takes at least
CLEAR = 0.7  # of the variance between the kinds; one lognormal kind has 0.64
MOST_LOAD = 100.0


@dataclass(frozen=True)
class Split:
    """Where short ends and long begins.

    Attributes
    ----------
    border : tokens, s + o; what has more is long
    long_share : of the requests
    between : share of the variance of log(s + o) that lies between the kinds
    """

    border: float
    long_share: float
    between: float

    @property
    def is_clear(self) -> bool:
        """Whether there are two kinds rather than one broad one."""
        return self.between >= CLEAR


@dataclass(frozen=True, eq=False)
class DailyCurve:
    """How requests come.

    Attributes
    ----------
    edges : (k + 1,) float64, clock units, ascending; the slices of the trace
    count : (k,) int64, requests in each
    burstiness : coefficient of variation of the gaps, the curve taken out; 1 is Poisson
    """

    edges: np.ndarray
    count: np.ndarray
    burstiness: float

    @property
    def rate(self) -> np.ndarray:
        """(k,) requests a clock unit in each slice."""
        return self.count / np.diff(self.edges)


@dataclass(frozen=True, eq=False)
class TraceLaws:
    """What a trace teaches.

    Attributes
    ----------
    classes : short and long, or one kind where all requests are alike
    split : what parts them; None with one kind
    curve : None where all requests come at once
    requests : how many the trace has
    """

    classes: tuple[RequestClass, ...]
    split: Split | None
    curve: DailyCurve | None
    requests: int


def split_lengths(total: np.ndarray) -> Split | None:
    """The border with the largest variance between the parts; None where all are alike.

    Parameters
    ----------
    total : (n,) tokens, s + o
    """
    values, count = np.unique(total, return_counts=True)
    if len(values) == 1:
        return None
    log = np.log(values)
    n = count.sum()
    below = np.cumsum(count)[:-1]
    sums = np.cumsum(count * log)
    mean = sums[-1] / n
    # n times the variance between the parts, for each border.
    between = n * (mean * below - sums[:-1]) ** 2 / (below * (n - below))
    best = int(np.argmax(between))
    variance = (count * (log - mean) ** 2).sum()
    return Split(
        float(np.sqrt(values[best] * values[best + 1])),
        float(1 - below[best] / n),
        float(between[best] / variance),
    )


def fit_laws(workload: Workload) -> TraceLaws:
    """The laws of a trace; its own classes, if any, are not asked."""
    split = split_lengths(workload.peak)
    if split is None:
        kinds = {"all": np.ones(len(workload), bool)}
    else:
        is_long = workload.peak > split.border
        kinds = {"short": ~is_long, "long": is_long}
    return TraceLaws(
        classes=tuple(_fit_class(key, workload.take(which)) for key, which in kinds.items()),
        split=split,
        curve=_fit_curve(workload.arrival),
        requests=len(workload),
    )


def class_record(key: str, workload: Workload) -> dict:
    """A class as a file of sample_data/classes describes it, with these requests' quantiles."""
    n = len(workload)
    order = np.argsort(workload.prompt, kind="stable")
    groups = PROMPT_GROUPS if n >= PROMPT_GROUPS * A_GROUP else 1
    outputs = [_quantiles(part) for part in np.array_split(workload.output[order], groups)]
    levels = LEVELS.tolist()
    return {
        "title": f"{key.capitalize()} (from a trace)",
        "description": f"{n:,} requests of a trace",
        "source": "a trace of the user's",
        "licence": "the trace's",
        "made": "quantiles of prompts, and of outputs by ranges of prompts",
        "prompt": {"law": "quantiles", "levels": levels, "values": _quantiles(workload.prompt)},
        "output": {
            "law": "quantiles by prompt",
            "prompt_levels": np.linspace(0, 1, groups + 1).tolist(),
            "levels": levels,
            "values": outputs,
        },
        "total_at_most": int(workload.peak.max()),
    }


def _quantiles(tokens: np.ndarray) -> list[float]:
    return np.quantile(tokens, LEVELS).tolist()


def _fit_class(key: str, workload: Workload) -> RequestClass:
    return build(RequestClass, {"key": key, **class_record(key, workload)}, key)


def _fit_curve(arrival: np.ndarray) -> DailyCurve | None:
    if np.ptp(arrival) == 0:
        return None
    slices = int(np.clip(len(arrival) // A_SLICE, 1, SLICES))
    count, edges = np.histogram(arrival, slices)
    gaps = np.diff(np.sort(_flattened(arrival, edges, count)))
    low, high, _ = RANGES["burstiness"]
    burstiness = float(np.clip(gaps.std() / gaps.mean(), low, high))
    return DailyCurve(edges, count, burstiness)


def _flattened(arrival: np.ndarray, edges: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Arrivals on a clock that ticks once a request, on average, all through the trace."""
    return np.interp(arrival, edges, np.append(0, np.cumsum(count)))


def what_if(laws: TraceLaws, load: float = 1.0, long_share: float = 1.0, seed: int = 0) -> Workload:
    """Another day like the trace: as long, under the same curve, with requests drawn anew.

    Parameters
    ----------
    load : times as many requests in the same time
    long_share : times as large a share of long requests, all being long at most
    seed : of the draws; the i-th request has the same numbers at any load and share

    Raises
    ------
    InputError
        For a number out of range.
    """
    load = number_in("load", load, 0.01, MOST_LOAD)
    long_share = number_in("share of long requests (times)", long_share, 0, 1000)
    seed = number_in("seed", seed, 0, 2**63, whole=True)
    n = max(1, round(load * laws.requests))
    draws = np.random.Generator(np.random.PCG64(seed)).random((n, 4))
    when, kind, prompt_uniform, output_uniform = draws.T
    prompt, output = np.empty(n, np.int64), np.empty(n, np.int64)
    share = 0.0 if laws.split is None else min(1.0, long_share * laws.split.long_share)
    class_of = (kind < share).astype(np.int64)
    for number, law in enumerate(laws.classes):
        members = class_of == number
        prompt[members], output[members] = law.lengths(
            prompt_uniform[members], output_uniform[members]
        )
    names = tuple(law.key for law in laws.classes)
    return Workload(_arrivals(laws.curve, when), prompt, output, class_of, names)


def _arrivals(curve: DailyCurve | None, uniform: np.ndarray) -> np.ndarray:
    """Gamma gaps over the whole curve, the first request at its begin, the last at its end."""
    n = len(uniform)
    if curve is None:
        return np.zeros(n)
    if n == 1:
        return curve.edges[:1]
    gaps = Scenario(arrivals="gamma", rate=1.0, burstiness=curve.burstiness)
    even = arrival_times(uniform, gaps)
    even = (even - even[0]) / (even[-1] - even[0])
    upto = np.append(0, np.cumsum(curve.count))
    return np.interp(even * upto[-1], upto, curve.edges)


def laws_in_words(laws: TraceLaws, unit: str) -> str:
    """What was found, in a sentence or two."""
    if laws.split is None:
        kinds = "All requests have the same length"
    else:
        kind = "Two kinds" if laws.split.is_clear else "One broad kind, cut in two"
        kinds = (
            f"{kind}: {wording.percent(laws.split.long_share)} are long, with more than "
            f"{laws.split.border:,.0f} tokens of prompt and output"
        )
    if laws.curve is None:
        return f"{kinds}. They come all at once."
    moment = unit.removesuffix("s")
    rate = laws.curve.rate
    return (
        f"{kinds}. They come at {rate.min():.3g} to {rate.max():.3g} a {moment}, with gaps "
        f"{_burstiness_in_words(laws.curve.burstiness)} (CV {laws.curve.burstiness:.2f})."
    )


def _burstiness_in_words(burstiness: float) -> str:
    if burstiness < 0.8:
        return "more even than chance"
    return "as chance has it" if burstiness <= 1.2 else "burstier than chance"
