"""A view with its results: the settings that bring it back, and what it showed when it was kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from engine import wording
from engine.demand.arrivals import ARRIVALS
from engine.demand.predictions import write_predictions
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.fields import build
from engine.fleet import Topology
from engine.machine.clock import Clock
from engine.machine.hardware import presets
from engine.machine.preset import COEFFICIENTS
from engine.measure.league import Entry
from engine.measure.metrics import SAVED, shown_in
from engine.version import version
from engine.workload import Workload

FORMAT = "headroom view 1"
MOST_CHARACTERS = 1_000_000  # of a view in JSON
COMPARED = ("mean_latency", "p99_latency")  # without these two views cannot be compared
OF_ARRIVALS = {  # which fields of a scenario say how requests arrive
    "backlog": (),
    "poisson": ("rate",),
    "gamma": ("rate", "burstiness"),
    "on-off": ("rate", "period", "on_share"),
}
TITLES = {
    "n": "requests",
    "on_share": "part of a period with arrivals",
    "predict": "predicted lengths",
}


@dataclass(frozen=True)
class Snapshot:
    """One view.

    Attributes
    ----------
    page : its name, such as `Compare`
    settings : the parameters of its link
    title : the scenario in one line
    facts : what the results depend on, each a value by its name, for comparisons
    results : one record a policy: `policy`, `load`, `gap`, None without a bound, and the metrics
        that views kept when it was (engine/measure/metrics.py), those COMPARED among them
    unit : of the times
    engine : the version that computed them
    trace : the name of the file that the requests are from; empty where the settings hold all

    Raises
    ------
    InputError
        For values of another kind, which a file may have.
    """

    page: str
    settings: Mapping[str, Sequence[str]]
    title: str
    facts: Mapping[str, Any]
    results: Sequence[Mapping[str, Any]] = ()
    unit: str = "rounds"
    engine: str = field(default_factory=version)
    trace: str = ""

    def __post_init__(self) -> None:
        for name in ("page", "title", "unit", "engine", "trace"):
            _need(isinstance(getattr(self, name), str), name, "a text")
        _need(isinstance(self.facts, Mapping), "facts", "a record")
        _need(isinstance(self.settings, Mapping), "settings", "a record")
        for values in self.settings.values():
            texts = isinstance(values, (list, tuple)) and all(isinstance(v, str) for v in values)
            _need(texts, "settings", "lists of texts")
        _need(isinstance(self.results, (list, tuple)), "results", "a list")
        for result in self.results:
            _need(isinstance(result, Mapping) and _is_result(result), "results", "one record each")

    def text(self, name: str) -> str:
        """As JSON, under a name."""
        return json.dumps({"format": FORMAT, "name": name, **asdict(self)}, indent=1)


def _need(is_so: bool, name: str, what: str) -> None:
    if not is_so:
        raise InputError(f"{name} must be {what}")


def _is_result(result: Mapping) -> bool:
    texts = all(isinstance(result.get(name), str) for name in ("policy", "load"))
    needed = {*COMPARED, *(metric.name for metric in shown_in(SAVED) if metric.name in result)}
    numbers = all(isinstance(result.get(name), (int, float)) for name in needed)
    return texts and numbers and isinstance(result.get("gap"), (int, float, type(None)))


def read_snapshot(text: str) -> tuple[str, Snapshot]:
    """The name and the view in a JSON text.

    Raises
    ------
    InputError
        Where it is no view, naming what is wrong with it.
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"the view is longer than {MOST_CHARACTERS:,} characters")
    try:
        record = json.loads(text)
    except ValueError as problem:
        raise InputError(f"the view is not JSON: {problem}") from None
    if not isinstance(record, dict) or record.pop("format", None) != FORMAT:
        raise InputError(f"the file is not a view of this dashboard (it has no format {FORMAT!r})")
    name = record.pop("name", "")
    if not isinstance(name, str):
        raise InputError("the name of a view must be a text")
    return name, build(Snapshot, record, "the view")


def facts_of(
    workload: Workload,
    scenario: Scenario | None,
    memory: int,
    clock: Clock,
    topology: Topology,
    policies: Sequence[str],
    trace: str = "",
) -> dict[str, Any]:
    """What results depend on, by name: two views differ in what differs here.

    Parameters
    ----------
    scenario : what drew the requests; None where they were given
    policies : their labels
    trace : the name of the file that requests are from
    """
    of_requests = _given(workload, trace) if scenario is None else _drawn(scenario)
    terms = workload.admission_limits.in_words()
    return {
        "M (tokens)": memory,
        **of_requests,
        **({"clients": workload.concurrency} if workload.concurrency else {}),
        **({"terms": ", ".join(terms)} if terms else {}),
        "clock": _clock(clock),
        "servers": str(topology),
        "policies": list(policies),
    }


def _drawn(scenario: Scenario) -> dict[str, Any]:
    size = "n" if scenario.horizon is None else "horizon"
    of_others = {name for kind in ARRIVALS for name in OF_ARRIVALS.get(kind, ())}
    told = {size, *OF_ARRIVALS.get(scenario.arrivals, ())}
    hidden = {
        "memory",
        "mix",
        "n",
        "horizon",
        "admission_limits",
        *of_others,
    } - told  # facts_of has the door
    values = {
        entry.name: getattr(scenario, entry.name)
        for entry in fields(Scenario)
        if entry.name not in hidden
    }
    values["predict"] = write_predictions(scenario.predict)
    mix = " / ".join(f"{100 * share:.3g} % {key}" for key, share in scenario.mix)
    told = {TITLES.get(name, name.replace("_", " ")): value for name, value in values.items()}
    return {"mix": mix} | {name: value for name, value in told.items() if value is not None}


def _given(workload: Workload, trace: str) -> dict[str, Any]:
    named = {"trace": trace} if trace else {}
    return {"requests": len(workload), **named, "content": workload.digest}


def _clock(clock: Clock) -> str:
    if clock.is_rounds:
        return "rounds"
    pairs = zip(COEFFICIENTS, clock.step, strict=True)
    coefficients = ", ".join(f"{name} = {value:g}" for name, value in pairs) + " (seconds)"
    titles = [preset.title for preset in presets().values() if preset.clock == clock]
    return f"{titles[0]}: {coefficients}" if titles else coefficients


def results_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The records of `Snapshot.results`."""
    return [
        {
            "policy": entry.label,
            "load": entry.verdict.kind,
            "gap": entry.gap,
            **{metric.name: float(entry.numbers[metric.name]) for metric in shown_in(SAVED)},
        }
        for entry in entries
    ]


def best_of(results: Sequence[Mapping[str, Any]], unit: str) -> str:
    """The lowest mean latency of a view, and whose it is; empty without results."""
    if not results:
        return ""
    best = min(results, key=lambda result: result["mean_latency"])
    if best["load"] == "overloaded":
        return f"{best['policy']} is overloaded"
    return f"{wording.amount(best['mean_latency'], unit)} ({best['policy']})"
