"""The sidebar: everything that makes a scenario, each control in the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Deployment, Experiment, Workload, wording
from engine.demand.arrivals import ARRIVALS
from engine.demand.example import examples, load_example
from engine.demand.request_class import classes
from engine.demand.scenario import RANGES, Scenario
from engine.demand.source import Source, how_many, requests_of
from engine.engines import Engine
from engine.machine.clock import Clock
from engine.machine.hardware import Preset
from engine.mode import current_mode
from engine.workload import MAX_MEMORY
from pages.parts.fold import Fold
from pages.parts.link import forget, linked
from pages.parts.literal import literal
from pages.parts.sidebar.clock import ask_preset, ask_round_times
from pages.parts.sidebar.engine import ask_engine
from pages.parts.sidebar.memory import derive_memory, memory_in_words
from pages.parts.sidebar.policies import ask_policies
from pages.parts.sidebar.predictions import PREDICTION_SETTINGS, ask_predictions
from pages.parts.sidebar.servers import ask_servers
from pages.parts.sidebar.upload import uploaded
from pages.parts.store import store
from pages.parts.view import View

MIX, UPLOAD = "mix", "upload"
MEMORY = 16_492  # tokens: Llama-2-70B on two A100s, in arXiv 2502.07115
ROUNDS_A_SECOND = 20  # about, where a large model decodes: sets defaults, nothing else
ARRIVAL_TITLES = {
    "backlog": "All at once (backlog)",
    "poisson": "Poisson",
    "gamma": "Bursty (gamma gaps)",
    "on-off": "On and off",
}


@dataclass(frozen=True)
class Machine:
    """What one server is."""

    preset: Preset | None
    clock: Clock
    engine: Engine


def ask() -> View:
    """Draw the controls and return what they describe."""
    services_first = sorted(examples(), key=lambda key: examples()[key].scenario is None)
    sources = [MIX, *services_first, UPLOAD]
    source = st.selectbox(
        "Start from",
        sources,
        format_func=_source_title,
        on_change=_take_over_example,
        help="A mix of request classes to tune, a ready-made example, or your own trace.",
        **linked("from", MIX, options=sources),
    )
    preset = ask_preset()
    clock = ask_round_times(preset)
    machine = Machine(preset, clock, ask_engine(preset))
    shows = st.empty()
    name, requests, memory = _ask_requests(source, machine)
    requests = ask_predictions(requests)
    topology, requests = ask_servers(requests, clock)
    deployment = Deployment(memory, clock, topology, machine.engine)
    experiment = Experiment(requests, deployment, ask_policies(deployment.engine))
    _check(experiment)
    store().get(("requests", requests), lambda: requests_of(requests))  # while it is looked at
    if source not in (MIX, UPLOAD):
        _tell_what_it_shows(shows, source, experiment)
    title = f"{requests if isinstance(requests, Scenario) else name}, M = {wording.count(memory)}"
    words = [title] if preset is None else [title, preset.title]
    words += [] if deployment.engine.is_ideal else [f"inside {deployment.engine.title}"]
    words += [str(topology)] if topology.servers > 1 else []
    words += [wording.counted(requests.concurrency, "client")] if requests.concurrency else []
    if isinstance(requests, Workload):  # a scenario says the rest itself
        words += requests.admission_limits.in_words()
        words += ["outputs predicted"] if requests.is_predicted else []
    st.caption(literal(f"{', '.join(words)}. The address of this page is a link to this view."))
    return View(title, experiment)


def _check(experiment: Experiment) -> None:
    """InputError where this server does not simulate so much, whoever asked: before it begins."""
    mode = current_mode()
    mode.check_requests(how_many(experiment.source))
    mode.check_search(
        {choice.label: choice.values.get("seconds", 0.0) for choice in experiment.choices}
    )


def _ask_requests(source: str, machine: Machine) -> tuple[str, Source, int]:
    """What the requests are called, the requests or what draws them, and M."""
    if source == UPLOAD:
        name, workload = uploaded(machine.clock)
        return name, workload, _ask_memory(MEMORY, machine)
    if source == MIX:
        scenario, memory = _ask_scenario(Scenario(), MEMORY, machine)
        return str(scenario), scenario, memory
    example = load_example(source)
    if example.scenario is not None:
        scenario, memory = _ask_scenario(example.scenario, example.memory, machine)
        return str(scenario), scenario, memory
    return example.title, example.workload, _ask_memory(example.memory, machine)


def _source_title(source: str) -> str:
    fixed = {MIX: "A mix of request classes", UPLOAD: "My own trace or log"}
    return fixed.get(source) or examples()[source].title


def _tell_what_it_shows(slot, source: str, experiment: Experiment) -> None:
    """What an example shows, which is so with its own requests, M, clock and server only."""
    example = load_example(source)
    shipped = (example.workload, Deployment(example.memory))
    as_shipped = (experiment.workload, experiment.deployment) == shipped
    slot.caption(f"{'' if as_shipped else 'As shipped (it was changed here): '}{example.shows}")


def _take_over_example() -> None:
    """A newly picked source brings its own values: forget those of the one before."""
    mix = ("memory", "share", "first", "second", "arrivals", "by_horizon")
    in_seconds = (f"{name}_s" for name in RANGES)
    forget((*mix, *RANGES, *in_seconds, *PREDICTION_SETTINGS))


def _ask_memory(default: int, machine: Machine) -> int:
    memory = st.number_input(
        "KV-cache memory M (tokens)",
        1,
        MAX_MEMORY,
        step=1024,
        help="How many tokens of KV cache the GPU has room for. 16,492: Llama-2-70B on two A100s.",
        **linked("memory", default, int, low=1, high=MAX_MEMORY),
    )
    st.caption(memory_in_words(memory, machine.preset, machine.engine))
    derive_memory(machine.preset)
    return memory


def _ask_scenario(base: Scenario, usual_memory: int, machine: Machine) -> tuple[Scenario, int]:
    """The scenario and M, in the order in which people think of them."""
    (first, share), (second, _) = base.mix
    titles = {key: known.title for key, known in classes().items()}
    mix_slot, size_slot, memory_slot, arrival_slot = (st.container() for _ in range(4))
    with Fold(st.expander, "More", icon=":material/tune:") as more:
        first = more.control(st.selectbox)(
            "First class",
            titles,
            format_func=titles.__getitem__,
            **linked("first", first, options=titles),
        )
        others = [key for key in titles if key != first]
        second = more.control(st.selectbox)(
            "Second class",
            others,
            format_func=titles.__getitem__,
            **linked("second", second if second in others else others[0], options=others),
        )
        help = "The same seed draws the same requests."
        field = more.control(st.number_input)
        seed = _ask_number("seed", "Seed", base.seed, help, field=field)
    with mix_slot:
        share = st.slider(
            f"Share of “{titles[first]}” (%)",
            0,
            100,
            help=f"The other requests are “{titles[second]}”.",
            **linked("share", round(100 * share), int, low=0, high=100),
        )
    with memory_slot:
        memory = _ask_memory(usual_memory, machine)
    with arrival_slot:
        timing = _ask_arrivals(base, machine.clock)
    with size_slot:
        size = _ask_size(base, timing["arrivals"], machine.clock)
    mix = ((first, share / 100), (second, 1 - share / 100))
    return Scenario(mix=mix, seed=int(seed), predict=base.predict, **size, **timing), memory


def _ask_number(
    name: str,
    label: str,
    default: float,
    help: str,
    clock: Clock | None = None,
    field: Callable[..., Any] = st.number_input,
    **options,
) -> float:
    """A field of the scenario, within its range; each clock has its own where it has a unit."""
    low, high, whole = RANGES[name]
    linked_name = name if clock is None or clock.is_rounds else f"{name}_s"
    kind = int if whole else float
    return field(
        label,
        kind(low),
        kind(high),
        help=help,
        **options,
        **linked(linked_name, kind(default), kind, low=low, high=high),
    )


def _ask_size(base: Scenario, arrivals: str, clock: Clock) -> dict:
    """How many requests: a number or, where they arrive over time, a horizon."""
    by_horizon = arrivals != "backlog" and st.toggle(
        "Set a horizon instead of a number",
        **linked("by_horizon", base.horizon is not None, bool),
    )
    if by_horizon:
        help = "The requests that arrive up to this time."
        default = _in_unit(base.horizon or 20_000, clock)
        label = f"Horizon ({clock.unit})"
        return {
            "horizon": _ask_number(
                "horizon", label, default, help, clock, step=100.0, format="%.0f"
            )
        }
    return {"n": _ask_number("n", "Requests", base.n or 2000, "How many to draw.", step=100)}


def _in_unit(rounds: float, clock: Clock) -> float:
    """A default in rounds on the present clock."""
    return rounds if clock.is_rounds else rounds / ROUNDS_A_SECOND


def _ask_arrivals(base: Scenario, clock: Clock) -> dict:
    arrivals = st.selectbox(
        "Arrivals",
        ARRIVALS,
        format_func=ARRIVAL_TITLES.__getitem__,
        help="Bursty: gamma-distributed gaps. On and off: only in the first part of every period.",
        **linked("arrivals", base.arrivals, options=ARRIVALS),
    )
    timing: dict[str, Any] = {"arrivals": arrivals}
    if arrivals != "backlog":
        help = "The default mix fills 16,492 tokens at about 0.107 requests a round."
        per = "round" if clock.is_rounds else "second"
        rate = base.rate if clock.is_rounds else base.rate * ROUNDS_A_SECOND
        timing["rate"] = _ask_number(
            "rate", f"Arrivals a {per}", rate, help, clock, step=rate / 8, format="%.4g"
        )
    if arrivals == "gamma":
        help = "Standard deviation of the gaps over their mean: 1 is Poisson, more is burstier."
        timing["burstiness"] = _ask_number(
            "burstiness", "Burstiness (CV of the gaps)", base.burstiness, help, step=0.5
        )
    if arrivals == "on-off":
        help = "Requests arrive only in the first part of every period."
        timing["period"] = _ask_number(
            "period",
            f"Period ({clock.unit})",
            _in_unit(base.period, clock),
            help,
            clock,
            step=100.0,
            format="%.0f",
        )
        timing["on_share"] = _ask_number(
            "on_share", "Part of a period with arrivals", base.on_share, help, step=0.05
        )
    return timing
