"""Where the requests of an experiment come from: a scenario that draws them, or they are given."""

from __future__ import annotations

from weakref import WeakValueDictionary

from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.workload import Workload

Source = Scenario | Workload

# What somebody still holds is not drawn again: of two million requests that takes a second.
_DRAWN: WeakValueDictionary[Scenario, Workload] = WeakValueDictionary()


def requests_of(source: Source) -> Workload:
    """The requests, drawn where they are not given."""
    if isinstance(source, Workload):
        return source
    drawn = _DRAWN.get(source)
    if drawn is None:
        drawn = _DRAWN[source] = generate(source)
    return drawn


def how_many(source: Source) -> int:
    """How many requests there are, without drawing them: roughly where a horizon decides."""
    if isinstance(source, Workload):
        return len(source)
    return source.requests
