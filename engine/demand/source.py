"""Where the requests of an experiment come from: a scenario that draws them, or they are given."""

from __future__ import annotations

from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.workload import Workload

Source = Scenario | Workload


def requests_of(source: Source) -> Workload:
    """The requests, drawn where they are not given."""
    return generate(source) if isinstance(source, Scenario) else source


def how_many(source: Source) -> int:
    """How many requests there are, without drawing them: roughly where a horizon decides."""
    if isinstance(source, Workload):
        return len(source)
    return source.n or int(source.horizon * source.rate)
