"""What the Capacity page asks: the limits, the load to serve, the price, the number of seeds."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.capacity.answer import servers_of
from engine.capacity.cost import Price, price_of
from engine.capacity.draws import MOST_SEEDS, SEEDS, Draws
from engine.capacity.objective import Objective, check_it_has_a_rate
from engine.capacity.question import Question
from engine.errors import InputError, as_sentence
from engine.machine.hardware import Preset, presets
from engine.measure.slo import Slo
from pages.parts.jobs import NothingYet
from pages.parts.link import linked
from pages.parts.literal import literal
from pages.parts.slo import ask_slo
from pages.parts.store import store
from pages.parts.view import View

LOAD = 2  # times the present rate, unless another load is given
PERCENT = 99.0


@dataclass(frozen=True)
class Planning:
    """What the page asks of the servers in the sidebar.

    Attributes
    ----------
    question : the requests, what serves them, and what counts as carried; its value is what every
        result of the page depends on
    load : requests in a clock unit to find servers for
    price : of a server
    server : what a rate is carried on, in words
    """

    question: Question
    load: float
    price: Price
    server: str

    @property
    def draws(self) -> Draws:
        return self.question.draws

    @property
    def objective(self) -> Objective:
        return self.question.objective


def need_a_rate(view: View) -> None:
    """Go no further where requests do not come over time: say what to choose instead."""
    try:
        check_it_has_a_rate(view.workload)
    except InputError as problem:
        st.markdown("# Capacity is a rate: how many requests a server carries for good")
        if view.scenario is not None and view.scenario.arrivals == "backlog":
            st.button(
                "Let them arrive over time (Poisson)",
                icon=":material/timeline:",
                on_click=_let_them_arrive,
            )
        raise NothingYet(as_sentence(problem)) from None


def _let_them_arrive() -> None:
    st.session_state["arrivals"] = "poisson"


def preset_in_use() -> Preset | None:
    """The GPU that the sidebar's clock counts for; None in rounds."""
    return presets().get(st.session_state.get("clock", ""))


def in_clock(name: str, view: View) -> str:
    """The name of a setting that has a unit: each clock has its own."""
    return name if view.deployment.clock.is_rounds else f"{name}_s"


def clock_step(view: View) -> str:
    """`round` or `second`, for rates."""
    return view.deployment.unit.removesuffix("s")


def ask_planning(view: View) -> Planning:
    """The controls beneath the answer."""
    preset = preset_in_use()
    columns = st.columns(4)
    with columns[3]:
        seeds = ask_seeds(view)
    source = view.experiment.source
    draws = store().get(("draws", source, seeds), lambda: Draws(source, seeds))
    with columns[0]:
        load = _ask_load(view, draws)
    with columns[1]:
        price = _ask_price(preset)
    with columns[2]:
        percent = ask_percent()
    objective = ask_limits(view, percent)
    question = Question(draws, view.deployment, objective)
    return Planning(question, load, price, server_in_words(view))


def ask_percent() -> float:
    """Which percentile has to stay within the limits."""
    return st.number_input(
        "Percentile to keep (%)",
        50.0,
        100.0,
        step=1.0,
        help="So many per cent of the requests have to stay within the limits.",
        **linked("percentile", PERCENT, float, low=50.0, high=100.0),
    )


def ask_limits(view: View, percent: float) -> Objective:
    """The limits for all requests, and for each class."""
    return Objective(ask_slo(view.deployment.unit), _ask_by_class(view), percent)


def server_in_words(view: View) -> str:
    """What serves: `one server (A100 80 GB)`."""
    preset = preset_in_use()
    return servers_of(view.deployment.topology, "" if preset is None else preset.title)


def _ask_load(view: View, draws: Draws) -> float:
    default = float(f"{LOAD * draws.rate:.3g}")
    return st.number_input(
        f"Load to serve (requests a {clock_step(view)})",
        1e-6,
        1e6,
        value=None,
        placeholder=f"{default:g}: twice the present",
        format="%.4g",
        help="How many servers would that take, and what would they cost?",
        **linked(in_clock("load", view), None, float, low=1e-6, high=1e6),
    ) or default  # fmt: skip


def _ask_price(preset: Preset | None) -> Price:
    known = price_of(preset)
    gpu = preset.gpu if preset is not None and preset.gpu else "gpu"
    asked = st.number_input(
        "USD for a GPU-hour",
        0.0,
        1e6,
        format="%.2f",
        help=f"A server has {known.gpus} GPU{'s' if known.gpus > 1 else ''}. The values are "
        "examples, of sample_data/gpus.csv: set your own.",
        **linked(f"price_{gpu}", known.gpu_hour, float, low=0.0, high=1e6),
    )
    return Price(asked, known.gpus, known.is_assumed and asked == known.gpu_hour)


def ask_seeds(view: View) -> int:
    """How many draws there are."""
    return st.number_input(
        "Seeds",
        1,
        MOST_SEEDS,
        disabled=view.scenario is None,
        help="Each draws the requests anew; more of them narrow the interval. Requests that "
        "were given are one draw.",
        **linked("seeds", SEEDS, int, low=1, high=MOST_SEEDS),
    )


def _ask_by_class(view: View) -> tuple[tuple[str, Slo], ...]:
    """Limits of single classes; not asked where there is one class."""
    present = sorted(set(view.workload.class_of.tolist()))
    names = [view.workload.classes[number] for number in present]
    if len(names) < 2:
        return ()
    titles = {"ttft": "TTFT", "tpot": "TPOT", "latency": "end to end"}
    limited = []
    with st.expander("Limits for one class", icon=":material/category:"):
        for name in names:
            limits = {
                kind: column.number_input(
                    literal(f"{name}: {title} ({view.deployment.unit})"),
                    0.0,
                    value=None,
                    placeholder="no limit",
                    format="%.4g",
                    **linked(f"slo_{kind}.{name}", None, float, low=0.0),
                )
                for column, (kind, title) in zip(st.columns(3), titles.items(), strict=True)
            }
            limited.append((name, Slo(**limits)))
    return tuple((name, slo) for name, slo in limited if slo.limits)
