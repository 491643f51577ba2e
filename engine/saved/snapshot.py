"""A view with its results: the settings that bring it back, and what it showed when it was kept."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from engine import wording
from engine.demand.arrivals import ARRIVALS
from engine.demand.predictions import write_predictions
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.experiment import Experiment
from engine.fields import build, check_text, read_json
from engine.machine.clock import Clock
from engine.machine.hardware import presets
from engine.machine.preset import COEFFICIENTS
from engine.measure.league import Entry
from engine.measure.metrics import SAVED, shown_in
from engine.saved.soundness import check_facts, check_results, check_settings
from engine.version import version
from engine.workload import Workload

FORMAT = "headroom view 1"
MOST_CHARACTERS = 1_000_000  # of a view in JSON, without its name
OF_ITS_NAME = 2_000  # characters more
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
    results : one record a policy: `policy`, `load`, `gap`, None without a bound, and metrics;
        another version may have kept fewer numbers, or more
    unit : of the times
    engine : the version that computed them
    trace : the name of the file that the requests are from; empty where the settings hold all

    Raises
    ------
    InputError
        For what could not be shown or kept, which a file may hold (engine/saved/soundness.py).
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
            check_text(name, getattr(self, name))
        check_settings(self.settings)
        check_facts(self.facts)
        check_results(self.results)

    def text(self, name: str) -> str:
        """As JSON, under a name."""
        return json.dumps({"format": FORMAT, "name": name, **asdict(self)}, indent=1)


def check_length(snapshot: Snapshot) -> None:
    """InputError where a view is too long as it would be kept, which a file may hold in less."""
    length = len(snapshot.text(""))
    if length > MOST_CHARACTERS:
        longest = max(vars(snapshot), key=lambda name: len(json.dumps(getattr(snapshot, name))))
        raise InputError(
            f"{longest}: too long, the view would be kept in {length:,} characters and "
            f"{MOST_CHARACTERS:,} are the most: shorten it"
        )


def read_snapshot(text: str) -> tuple[str, Snapshot]:
    """The name and the view in a JSON text.

    Raises
    ------
    InputError
        Where it is no view, naming what is wrong with it.
    """
    record = read_json(text, "the view", MOST_CHARACTERS + OF_ITS_NAME)
    version = record.pop("format", None) if isinstance(record, dict) else None
    if version != FORMAT:
        of = f"has the format {reprlib.repr(version)}" if version is not None else "has no format"
        raise InputError(f"it is not a view of this version, whose format is {FORMAT!r}: it {of}")
    name = record.pop("name", "")
    if not isinstance(name, str):
        raise InputError("the name of a view must be a text")
    return name, build(Snapshot, record, "the view")


def facts_of(experiment: Experiment, trace: str = "") -> dict[str, Any]:
    """What results depend on, by name: two views differ in what differs here.

    Parameters
    ----------
    trace : the name of the file that requests are from
    """
    source, deployment = experiment.source, experiment.deployment
    of_requests = _drawn(source) if isinstance(source, Scenario) else _logged(source, trace)
    limits = source.admission_limits.in_words()
    return {
        "M (tokens)": deployment.memory,
        **of_requests,
        **({"clients": source.concurrency} if source.concurrency else {}),
        **({"terms": ", ".join(limits)} if limits else {}),
        "clock": _clock(deployment.clock),
        "servers": str(deployment.topology),
        **({} if deployment.engine.is_ideal else {"engine": deployment.engine.in_words}),
        "policies": [choice.label for choice in experiment.choices],
    }


def _drawn(scenario: Scenario) -> dict[str, Any]:
    size = "n" if scenario.horizon is None else "horizon"
    of_arrivals = {name for kind in ARRIVALS for name in OF_ARRIVALS.get(kind, ())}
    used = {size, *OF_ARRIVALS.get(scenario.arrivals, ())}
    # The mix is written below, clients and admission limits by facts_of.
    elsewhere = {"mix", "n", "horizon", "concurrency", "admission_limits", *of_arrivals} - used
    values = {
        entry.name: getattr(scenario, entry.name)
        for entry in fields(Scenario)
        if entry.name not in elsewhere
    }
    values["predict"] = write_predictions(scenario.predict)
    mix = " / ".join(f"{100 * share:.3g} % {key}" for key, share in scenario.mix)
    titled = {TITLES.get(name, name.replace("_", " ")): value for name, value in values.items()}
    return {"mix": mix} | {name: value for name, value in titled.items() if value is not None}


def _logged(workload: Workload, trace: str) -> dict[str, Any]:
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
    """The lowest mean latency of a view, and whose it is; empty where none is kept."""
    timed = [result for result in results if "mean_latency" in result]
    if not timed:
        return ""
    best = min(timed, key=lambda result: result["mean_latency"])
    if best["load"] == "overloaded":
        return f"{best['policy']} is overloaded"
    return f"{wording.amount(best['mean_latency'], unit)} ({best['policy']})"
