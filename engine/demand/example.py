"""Ready-made experiments, each showing one thing: a JSON file in sample_data/scenarios is one.

A file has a title, one sentence on what it shows, `memory`, and either `scenario` (fields of a
Scenario) or `requests`: records with prompt and output, and where they differ from the default
an arrival (0), a class (`all`) and a count of identical requests (1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from engine.demand.generate import generate
from engine.demand.scenario import MAX_REQUESTS, Scenario
from engine.errors import InputError
from engine.fields import build, list_in, number_in
from engine.sample_data import SAMPLE_DATA, files_by_key, read_record
from engine.workload import MAX_TOKENS, Workload, check_memory


@dataclass(frozen=True)
class ExampleRequests:
    """Some identical requests, written out in an example."""

    prompt: int
    output: int
    arrival: float = 0
    class_name: str = "all"
    count: int = 1

    def __post_init__(self) -> None:
        for name in ("prompt", "output"):
            number_in(name, getattr(self, name), 1, MAX_TOKENS, whole=True)
        number_in("count", self.count, 1, MAX_REQUESTS, whole=True)


@dataclass(frozen=True, eq=False)
class Example:
    """A ready-made experiment.

    Attributes
    ----------
    key, title, shows : the name users type, the name they read, one sentence
    memory : M, tokens
    scenario : what generates its requests, or None where they are written out
    requests : the requests written out
    """

    key: str
    title: str
    shows: str
    memory: int
    scenario: Scenario | None = None
    requests: tuple[ExampleRequests, ...] = ()

    def __post_init__(self) -> None:
        if (self.scenario is None) == (not self.requests):
            raise InputError("must have either a scenario or requests")
        if self.scenario is None:
            rows = [
                build(ExampleRequests, row, f"requests {i + 1}")
                for i, row in enumerate(list_in("requests", self.requests))
            ]
            object.__setattr__(self, "requests", tuple(rows))
        else:
            object.__setattr__(
                self, "scenario", build(Scenario, cast(Any, self.scenario), "scenario")
            )
        object.__setattr__(self, "memory", check_memory(self.memory))

    @cached_property
    def workload(self) -> Workload:
        """The requests; the classes are in the order in which they appear."""
        if self.scenario is not None:
            return generate(self.scenario)
        return written_out(*self.requests)


def written_out(*rows: ExampleRequests) -> Workload:
    """The requests one by one; the classes are in the order in which they appear."""
    counts = [row.count for row in rows]
    classes = tuple(dict.fromkeys(row.class_name for row in rows))
    return Workload(
        np.repeat([float(row.arrival) for row in rows], counts),
        np.repeat([row.prompt for row in rows], counts),
        np.repeat([row.output for row in rows], counts),
        np.repeat([classes.index(row.class_name) for row in rows], counts),
        classes,
    )


def read_examples(folder: Path) -> dict[str, Example]:
    """Every example of a folder by its key; InputError names the file that is wrong."""
    return {
        key: build(Example, {"key": key, **read_record(path)}, path.name)
        for key, path in files_by_key(folder).items()
    }


@cache
def examples() -> dict[str, Example]:
    """The examples that ship with the project, by key."""
    return read_examples(SAMPLE_DATA / "scenarios")


def load_example(key: str) -> Example:
    """The example called `key`; InputError names the ones there are."""
    known = examples()
    if key not in known:
        raise InputError(f"unknown example {key}: choose from {', '.join(known)}")
    return known[key]
