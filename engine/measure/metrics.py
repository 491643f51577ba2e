"""Numbers about a run. A metric is one row of METRICS, and nothing else has to know it.

It is then in the command line's JSON and in the CSV of the league, and by default in the tables
of the command line and of the pages, with its help, and in saved views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from engine import wording
from engine.measure.times import tpot, ttft
from engine.memory_curve import peak_memory
from engine.simulate.run import Run

LEAGUE, TERMINAL, SAVED = "league", "terminal", "saved"
EVERYWHERE = (LEAGUE, TERMINAL, SAVED)
PERCENTILES = (50, 90, 99)  # of the latency: a metric each


@dataclass(frozen=True, eq=False)
class Sample:
    """The served requests that a number speaks of: all of a run, or those of one class.

    Attributes
    ----------
    run : the run
    which : (m,) int64, indices of its requests; None: all
    whole : the sample of all, whose times are computed once; None: this one
    """

    run: Run
    which: np.ndarray | None = None
    whole: Sample | None = None

    def of(self, values: np.ndarray) -> np.ndarray:
        """Of the (n,) values of all requests those of these."""
        return values if self.which is None else values[self.which]

    @cached_property
    def latency(self) -> np.ndarray:
        return self.of(self.run.latency)

    @cached_property
    def latency_percentiles(self) -> dict[int, float]:
        """All of PERCENTILES at once: the latencies are put in order a single time."""
        values = np.percentile(self.latency, PERCENTILES)
        return dict(zip(PERCENTILES, values.tolist(), strict=True))

    @cached_property
    def ttft(self) -> np.ndarray:
        return self.of(self.whole.ttft if self.whole else ttft(self.run))

    @cached_property
    def per_token(self) -> np.ndarray:
        """TPOT; NaN of those with one output token."""
        return self.of(self.whole.per_token if self.whole else tpot(self.run))

    @cached_property
    def tpot(self) -> np.ndarray:
        """Of those with more than one output token."""
        has_none = np.isnan(self.per_token)
        return self.per_token[~has_none] if has_none.any() else self.per_token


@dataclass(frozen=True)
class Quantity:
    """What sort of number a metric is: what it counts or measures.

    Attributes
    ----------
    unit : what it is in; `{unit}` stands for the clock's unit, `{each}` for one of it
    write : how people read it
    """

    unit: str
    write: Callable[[Any], str]


def _yes_or_no(value: float) -> str:
    return "yes" if value else "no"


TIME = Quantity("{unit}", wording.number)
RATE = Quantity("tokens a {each}", wording.number)
TOKENS = Quantity("tokens", wording.count)
COUNT = Quantity("", wording.count)
FLAG = Quantity("", _yes_or_no)


@dataclass(frozen=True)
class Metric:
    """One number of a run.

    Attributes
    ----------
    name : its key in JSON and its column in CSV
    title : the head of its column
    kind : what it is in and how it is written
    means : one sentence for who hovers over its head
    of : (sample) -> the number; None where no request has one
    by_class : whether it is told of every class of requests too
    shown : the tables it is in, of EVERYWHERE; JSON and CSV have all
    only_if_any : left out of a table where it is 0 in every row
    """

    name: str
    title: str
    kind: Quantity
    means: str
    of: Callable[[Sample], float | None]
    by_class: bool = True
    shown: tuple[str, ...] = EVERYWHERE
    only_if_any: bool = False

    @property
    def heading(self) -> str:
        """The title as it begins a column: `Mean TTFT`."""
        return self.title[:1].upper() + self.title[1:]

    def help(self, unit: str) -> str:
        """What it means, and what it is in on a clock with this unit."""
        measured = self.kind.unit.format(unit=unit, each=unit.removesuffix("s"))
        return f"{self.means} In {measured}." if measured else self.means


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _output_rate(sample: Sample) -> float:
    workload = sample.run.workload
    tokens, lasted = int(workload.output.sum()), _makespan(sample) - float(workload.arrival.min())
    return tokens / lasted if lasted else np.inf


def _makespan(sample: Sample) -> float:
    return sample.run.finished_at.max().item()


def _recomputed(sample: Sample) -> int:
    return recomputed_tokens(sample.run)


def _percentile(percent: int) -> Metric:
    return Metric(
        f"p{percent}_latency",
        f"P{percent}",
        TIME,
        f"Within this latency {percent} % of the requests are finished.",
        lambda sample: sample.latency_percentiles[percent],
    )


_ROWS = (
    Metric(
        "served",
        "served",
        COUNT,
        "Requests that were served.",
        lambda sample: len(sample.run.workload),
        by_class=False,
        shown=(),
    ),
    Metric(
        "gave_up",
        "gave up",
        COUNT,
        "Requests whose clients lost patience before they were admitted.",
        lambda sample: int(sample.run.unserved.gave_up.sum()),
        by_class=False,
        shown=(TERMINAL,),
        only_if_any=True,
    ),
    Metric(
        "turned_away",
        "turned away",
        COUNT,
        "Requests that came while the queue was full.",
        lambda sample: int((~sample.run.unserved.gave_up).sum()),
        by_class=False,
        shown=(TERMINAL,),
        only_if_any=True,
    ),
    Metric(
        "total_latency",
        "total latency",
        TIME,
        "Sum of the latencies, from arrival to last token.",
        lambda sample: float(sample.latency.sum()),
        by_class=False,
        shown=(),
    ),
    Metric(
        "mean_latency",
        "mean latency",
        TIME,
        "From arrival to last token, on average.",
        lambda sample: float(sample.latency.mean()),
    ),
    *(_percentile(percent) for percent in PERCENTILES),
    Metric(
        "mean_ttft",
        "mean TTFT",
        TIME,
        "Time to first token, from arrival.",
        lambda sample: float(sample.ttft.mean()),
    ),
    Metric(
        "mean_tpot",
        "mean TPOT",
        TIME,
        "Time per output token after the first.",
        lambda sample: _mean(sample.tpot),
        shown=(TERMINAL,),
    ),
    Metric(
        "output_tokens_per_time",
        "output tokens",
        RATE,
        "Output tokens over the time from the first arrival to the last finish.",
        _output_rate,
        by_class=False,
        shown=(),
    ),
    Metric(
        "makespan",
        "makespan",
        TIME,
        "When the last request is finished.",
        _makespan,
        by_class=False,
    ),
    Metric(
        "peak_memory",
        "peak memory",
        TOKENS,
        "The most that one server holds at the end of a round.",
        lambda sample: peak_memory(sample.run),
        by_class=False,
        shown=(TERMINAL,),
    ),
    Metric(
        "preemptions",
        "preemptions",
        COUNT,
        "How often a request gave up its KV cache.",
        lambda sample: int(sample.of(sample.run.preemptions).sum()),
        shown=(LEAGUE, TERMINAL),
    ),
    Metric(
        "recomputed_tokens",
        "recomputed tokens",
        TOKENS,
        "Prefilled or generated a second time after preemptions.",
        _recomputed,
        by_class=False,
        shown=(),
    ),
    Metric(
        "gave_up_kv",
        "gave up KV",
        FLAG,
        "Whether any request lost its KV cache: not every bound covers such a run.",
        lambda sample: sample.run.gave_up_kv,
        by_class=False,
        shown=(),
    ),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ROWS}


def shown_in(table: str) -> list[Metric]:
    """The metrics of a table, of EVERYWHERE, in order."""
    return [metric for metric in METRICS.values() if table in metric.shown]


def written_columns(rows: Sequence[Mapping], table: str) -> dict[Metric, list[str]]:
    """The columns of a table as people read them, from one row of metrics a run."""
    return {
        metric: [metric.kind.write(row[metric.name]) for row in rows]
        for metric in shown_in(table)
        if not metric.only_if_any or any(row[metric.name] for row in rows)
    }


def recomputed_tokens(run: Run) -> int:
    """Tokens prefilled or generated a second time after preemptions."""
    return int(run.recomputed.sum())


def summary(run: Run) -> dict:
    """Every metric of a run by name, and of its classes (docs/model.md 6).

    Times are of those who were served; the first three numbers say how many were not.
    """
    sample = Sample(run)
    numbers = {name: metric.of(sample) for name, metric in METRICS.items()}
    return {**numbers, "classes": _class_summary(sample)}


def _class_summary(whole: Sample) -> dict[str, dict]:
    """Per class that has requests: how many (`n`), and the metrics that speak of classes."""
    workload = whole.run.workload
    rows = {}
    for number, name in enumerate(workload.classes):
        sample = Sample(whole.run, np.flatnonzero(workload.class_of == number), whole)
        if len(sample.latency):
            numbers = {key: m.of(sample) for key, m in METRICS.items() if m.by_class}
            rows[name] = {"n": len(sample.latency), **numbers}
    return rows
