"""The sidebar: everything that makes a scenario, each control in the link."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine import wording
from engine.demand.arrivals import ARRIVALS
from engine.demand.example import examples, load_example
from engine.demand.generate import generate
from engine.demand.request_class import classes
from engine.demand.scenario import RANGES, Scenario
from engine.fleet import ONE_SERVER
from engine.machine.clock import ROUNDS, Clock
from engine.machine.hardware import Preset
from engine.workload import MAX_MEMORY
from pages.parts.clock_controls import ask_preset, ask_round_times
from pages.parts.link import forget, linked
from pages.parts.literal import literal
from pages.parts.memory_budget import derive_memory, memory_in_words
from pages.parts.policy_controls import ask_policies
from pages.parts.prediction_controls import PREDICTION_SETTINGS, ask_predictions
from pages.parts.server_controls import ask_servers
from pages.parts.store import store
from pages.parts.upload import uploaded
from pages.parts.view import View

MIX, UPLOAD = "mix", "upload"
ROUNDS_A_SECOND = 20  # about, where a large model decodes: sets defaults, nothing else
ARRIVAL_TITLES = {
    "backlog": "All at once (backlog)",
    "poisson": "Poisson",
    "gamma": "Bursty (gamma gaps)",
    "on-off": "On and off",
}


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
    shows, scenario = st.empty(), None
    if source == UPLOAD:
        name, workload = uploaded(clock)
        memory = _ask_memory(Scenario.memory, preset)
        title = f"{name}, M = {wording.count(memory)}"
    elif (base := _base(source)) is not None:
        scenario = _ask_scenario(base, clock, preset)
        memory, title = scenario.memory, str(scenario)
        workload = store().get(scenario, lambda: generate(scenario))
    else:
        example = load_example(source)
        memory, workload = _ask_memory(example.memory, preset), example.workload
        title = example.title
        if memory != example.memory or "M = " not in title:
            title = f"{title}, M = {wording.count(memory)}"
    workload, scenario = ask_predictions(workload, scenario)
    if scenario is not None:
        title = str(scenario)
    topology, workload = ask_servers(workload, clock)
    if scenario is not None:
        scenario = replace(scenario, door=workload.door)
    if source not in (MIX, UPLOAD):
        _tell_what_it_shows(shows, source, (workload.digest, memory, clock, topology))
    choices = ask_policies()
    told = [title] if preset is None else [title, preset.title]
    told += [str(topology)] if topology.servers > 1 else []
    told += [f"{workload.concurrency} clients"] if workload.concurrency else []
    told += workload.door.in_words()
    told += ["outputs predicted"] if workload.is_guessed and scenario is None else []
    st.caption(literal(f"{', '.join(told)}. The address of this page is a link to this view."))
    return View(title, workload, memory, choices, scenario, clock, topology)


def _source_title(source: str) -> str:
    fixed = {MIX: "A mix of request classes", UPLOAD: "My own trace or log"}
    return fixed.get(source) or examples()[source].title


def _base(source: str) -> Scenario | None:
    """The scenario that a source starts from; None where its requests are written out."""
    return Scenario() if source == MIX else load_example(source).scenario


def _tell_what_it_shows(slot, source: str, here: tuple) -> None:
    """What an example shows, which is so with its own requests, M, clock and server only."""
    example = load_example(source)
    as_shipped = here == (example.workload.digest, example.memory, ROUNDS, ONE_SERVER)
    slot.caption(f"{'' if as_shipped else 'As shipped (it was changed here): '}{example.shows}")


def _take_over_example() -> None:
    """A newly picked source brings its own values: forget those of the one before."""
    mix = ("memory", "share", "first", "second", "arrivals", "by_horizon")
    in_seconds = (f"{name}_s" for name in RANGES)
    forget((*mix, *RANGES, *in_seconds, *PREDICTION_SETTINGS))


def _ask_memory(default: int, preset: Preset | None) -> int:
    memory = st.number_input(
        "KV-cache memory M (tokens)",
        1,
        MAX_MEMORY,
        step=1024,
        help="How many tokens of KV cache the GPU has room for. 16,492: Llama-2-70B on two A100s.",
        **linked("memory", default, int, low=1, high=MAX_MEMORY),
    )
    st.caption(memory_in_words(memory, preset))
    derive_memory(preset)
    return memory


def _ask_scenario(base: Scenario, clock: Clock, preset: Preset | None) -> Scenario:
    (first, share), (second, _) = base.mix
    titles = {key: found.title for key, found in classes().items()}
    mix_slot, size_slot, memory_slot, arrival_slot = (st.container() for _ in range(4))
    with st.expander("More", icon=":material/tune:"):
        first = st.selectbox(
            "First class", titles, format_func=titles.get, **linked("first", first, options=titles)
        )
        others = [key for key in titles if key != first]
        second = st.selectbox(
            "Second class",
            others,
            format_func=titles.get,
            **linked("second", second if second in others else others[0], options=others),
        )
        seed = _ask_number("seed", "Seed", base.seed, "The same seed draws the same requests.")
    with mix_slot:
        share = st.slider(
            f"Share of “{titles[first]}” (%)",
            0,
            100,
            help=f"The other requests are “{titles[second]}”.",
            **linked("share", round(100 * share), int, low=0, high=100),
        )
    with memory_slot:
        memory = _ask_memory(base.memory, preset)
    with arrival_slot:
        timing = _ask_arrivals(base, clock)
    with size_slot:
        size = _ask_size(base, timing["arrivals"], clock)
    mix = ((first, share / 100), (second, 1 - share / 100))
    kept = {"memory": memory, "mix": mix, "seed": seed, "predict": base.predict}
    return Scenario(**kept, **size, **timing)


def _ask_number(
    name: str, label: str, default: float, help: str, clock: Clock | None = None, **options
) -> float:
    """A field of the scenario, within its range; each clock has its own where it has a unit."""
    low, high, whole = RANGES[name]
    linked_name = name if clock is None or clock.is_rounds else f"{name}_s"
    kind = int if whole else float
    return st.number_input(
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
        told = "The requests that arrive up to this time."
        default = _in_unit(base.horizon or 20_000, clock)
        label = f"Horizon ({clock.unit})"
        return {
            "horizon": _ask_number(
                "horizon", label, default, told, clock, step=100.0, format="%.0f"
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
        format_func=ARRIVAL_TITLES.get,
        help="Bursty: gamma-distributed gaps. On and off: only in the first part of every period.",
        **linked("arrivals", base.arrivals, options=ARRIVALS),
    )
    timing = {"arrivals": arrivals}
    if arrivals != "backlog":
        told = "The default mix fills 16,492 tokens at about 0.107 requests a round."
        each = "round" if clock.is_rounds else "second"
        rate = base.rate if clock.is_rounds else base.rate * ROUNDS_A_SECOND
        timing["rate"] = _ask_number(
            "rate", f"Arrivals a {each}", rate, told, clock, step=rate / 8, format="%.4g"
        )
    if arrivals == "gamma":
        told = "Standard deviation of the gaps over their mean: 1 is Poisson, more is burstier."
        timing["burstiness"] = _ask_number(
            "burstiness", "Burstiness (CV of the gaps)", base.burstiness, told, step=0.5
        )
    if arrivals == "on-off":
        told = "Requests arrive only in the first part of every period."
        timing["period"] = _ask_number(
            "period",
            f"Period ({clock.unit})",
            _in_unit(base.period, clock),
            told,
            clock,
            step=100.0,
            format="%.0f",
        )
        timing["on_share"] = _ask_number(
            "on_share", "Part of a period with arrivals", base.on_share, told, step=0.05
        )
    return timing
