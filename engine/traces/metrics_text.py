"""Prometheus' text as series: a name, labels and the value that was scraped last."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from engine.errors import InputError

MOST_SERIES = 200_000
LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\S+)?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(eq=False)
class Metrics:
    """What a server's page of metrics says.

    Attributes
    ----------
    series : values by name, each with its labels
    scrapes : how many pages follow each other; only the last counts
    restarted : whether a counter of a later page is below that of an earlier one
    """

    series: dict[str, dict[tuple[tuple[str, str], ...], float]] = field(default_factory=dict)
    scrapes: int = 1
    restarted: bool = False

    def of(self, *names: str) -> Iterator[tuple[Mapping[str, str], float]]:
        """The series of the first of these names that is there."""
        for name in names:
            if name in self.series:
                yield from ((dict(labels), value) for labels, value in self.series[name].items())
                return

    def total(self, *names: str) -> float | None:
        """Their sum over models and engines; None where there are none."""
        values = [value for _, value in self.of(*names) if math.isfinite(value)]
        return sum(values) if values else None

    def largest(self, *names: str) -> float | None:
        """The largest over models and engines; None where there are none."""
        return max((value for _, value in self.of(*names) if math.isfinite(value)), default=None)

    def mean(self, *names: str) -> float | None:
        """The mean of a histogram's values; None where there are none."""
        for name in names:
            count, total = self.total(f"{name}_count"), self.total(f"{name}_sum")
            if count and total is not None:
                return total / count
        return None


def read_metrics(lines: Iterable[str]) -> Metrics:
    """The series of a text; a line that is damaged raises InputError where it counts lengths."""
    metrics = Metrics()
    seen: dict[tuple, int] = {}
    for line in lines:
        match = LINE.match(line.strip())
        if not match or line.startswith("#"):
            continue
        name, labels, text = match.groups()
        key = tuple(sorted(LABEL.findall(labels or "")))
        try:
            value = float(text)
        except ValueError:
            if name.endswith(("_bucket", "_sum")):
                said = f"this line of metrics is damaged: {line.strip()[:200]}"
                raise InputError(said) from None
            continue
        if len(seen) > MOST_SERIES:
            raise InputError(f"it has more than {MOST_SERIES:,} series: give those of one server")
        values = metrics.series.setdefault(name, {})
        seen[name, key] = seen.get((name, key), 0) + 1
        if key in values and name.endswith(("_bucket", "_total")):
            metrics.restarted |= value < values[key]
        values[key] = value
    metrics.scrapes = max(seen.values(), default=1)
    return metrics
