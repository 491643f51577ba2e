"""The sidebar: everything that makes a scenario, each control in the link.

Widgets keep their value in the URL under their key, so the address bar is the
link that reproduces the view, and a page switch loses nothing. A choice stands
there in the words it has on the screen.
"""

from __future__ import annotations

import streamlit as st

from engine import POLICIES, wording
from engine.arrivals import ARRIVALS
from engine.example import examples, load_example
from engine.generate import generate
from engine.policy import GROUPS, Param
from engine.request_class import classes
from engine.scenario import RANGES, Scenario
from engine.workload import MAX_MEMORY
from pages.parts.store import store
from pages.parts.upload import uploaded
from pages.parts.view import Choice, View

MIX, UPLOAD = "mix", "upload"
LINK = {"bind": "query-params"}
DEFAULT_POLICIES = ("vllm", "fcfs", "mc-sf", "shortest-total", "svf", "sorted-f")
ARRIVAL_TITLES = {
    "backlog": "Backlog",
    "poisson": "Poisson",
    "gamma": "Bursty",
    "on-off": "On and off",
}


def ask() -> View:
    """Draw the controls and return what they describe."""
    with st.sidebar:
        source = st.selectbox(
            "Start from",
            [MIX, *examples(), UPLOAD],
            format_func=_source_title,
            key="from",
            on_change=_take_over_example,
            help="A mix of request classes to tune, a ready-made example, or your own trace.",
            **LINK,
        )
        if source == UPLOAD:
            title, workload = uploaded()
            memory = _ask_memory(Scenario.memory)
        elif (base := _base(source)) is not None:
            scenario = _ask_scenario(base)
            memory, title = scenario.memory, str(scenario)
            workload = store().get(scenario, lambda: generate(scenario))
        else:
            example = load_example(source)
            st.caption(example.shows)
            memory, workload = _ask_memory(example.memory), example.workload
            title = f"{example.title}, M = {wording.count(memory)}"
        choices = _ask_policies()
        st.caption(f"{title}. The address of this page is a link to this view.")
    return View(title, workload, memory, choices)


def _source_title(source: str) -> str:
    fixed = {MIX: "Mix of classes", UPLOAD: "My trace"}
    return fixed.get(source) or examples()[source].title


def _base(source: str) -> Scenario | None:
    """The scenario that a source starts from; None where its requests are written out."""
    return Scenario() if source == MIX else load_example(source).scenario


def _take_over_example() -> None:
    """A newly picked source brings its own values for all controls."""
    source = st.session_state["from"]
    base = _base(source) if source != UPLOAD else None
    memory = base.memory if base else load_example(source).memory if source != UPLOAD else None
    if memory:
        st.session_state["memory"] = memory
    if base:
        shares = dict(base.mix)
        st.session_state["share"] = round(100 * next(iter(shares.values())))
        st.session_state["first"], st.session_state["second"] = shares
        for name in ("n", "arrivals", "rate", "burstiness", "seed"):
            st.session_state[name] = getattr(base, name)


def _ask_memory(default: int) -> int:
    return st.number_input(
        "KV-cache memory M (tokens)",
        1,
        MAX_MEMORY,
        default,
        step=1024,
        key="memory",
        help="How many tokens of KV cache the GPU has room for. 16,492: Llama-2-70B on two A100s.",
        **LINK,
    )


def _ask_scenario(base: Scenario) -> Scenario:
    (first, share), (second, _) = base.mix
    titles = {key: found.title for key, found in classes().items()}
    mix_slot, n_slot, memory_slot, arrival_slot = (st.container() for _ in range(4))
    with st.expander("More", icon=":material/tune:"):
        first = st.selectbox(
            "First class", titles, list(titles).index(first), titles.get, key="first", **LINK
        )
        others = [key for key in titles if key != first]
        second = st.selectbox(
            "Second class",
            others,
            others.index(second) if second in others else 0,
            titles.get,
            key="second",
            **LINK,
        )
        seed = st.number_input(
            "Seed",
            *RANGES["seed"][:2],
            base.seed,
            key="seed",
            help="The same seed draws the same requests, for every policy.",
            **LINK,
        )
    with mix_slot:
        share = st.slider(
            f"Share of “{titles[first]}” (%)",
            0,
            100,
            round(100 * share),
            key="share",
            help=f"The other requests are “{titles[second]}”.",
            **LINK,
        )
    with memory_slot:
        memory = _ask_memory(base.memory)
    with arrival_slot:
        timing = _ask_arrivals(base)
    with n_slot:
        size = _ask_size(base, timing["arrivals"])
    mix = ((first, share / 100), (second, 1 - share / 100))
    return Scenario(memory=memory, mix=mix, seed=seed, **size, **timing)


def _ask_size(base: Scenario, arrivals: str) -> dict:
    """How many requests: a number or, where they arrive over time, a horizon."""
    by_horizon = False
    if arrivals != "backlog":
        by_horizon = st.toggle(
            "Set a horizon instead of a number", base.horizon is not None, key="by_horizon", **LINK
        )
    if by_horizon:
        horizon = st.number_input(
            "Horizon (rounds)",
            1.0,
            1e9,
            base.horizon or 20_000.0,
            step=1000.0,
            format="%.0f",
            key="horizon",
            help="The requests that arrive up to this round.",
            **LINK,
        )
        return {"horizon": horizon}
    n = st.number_input("Requests", *RANGES["n"][:2], base.n or 2000, step=100, key="n", **LINK)
    return {"n": n}


def _ask_arrivals(base: Scenario) -> dict:
    kinds = list(ARRIVALS)
    arrivals = st.selectbox(
        "Arrivals",
        kinds,
        kinds.index(base.arrivals),
        ARRIVAL_TITLES.get,
        key="arrivals",
        help="Backlog: all at time 0. Bursty: gamma-distributed gaps. "
        "On and off: only in the first part of every period.",
        **LINK,
    )
    timing = {"arrivals": arrivals}
    if arrivals != "backlog":
        timing["rate"] = st.number_input(
            "Arrival rate (requests a round)",
            *map(float, RANGES["rate"][:2]),
            base.rate,
            step=0.01,
            format="%.4g",
            key="rate",
            help="The default mix fills 16,492 tokens at about 0.107 requests a round.",
            **LINK,
        )
    if arrivals == "gamma":
        timing["burstiness"] = st.slider(
            "Burstiness (CV of the gaps)",
            0.5,
            10.0,
            base.burstiness,
            step=0.5,
            key="burstiness",
            help="Standard deviation of the gaps over their mean: 1 is Poisson, more is burstier.",
            **LINK,
        )
    return timing


def _ask_policies() -> tuple[Choice, ...]:
    picked = _picked_policies()
    adjustable = [key for key in picked if POLICIES[key].params]
    with st.expander("Policy parameters", icon=":material/settings:"):
        params = {
            key: tuple((param.name, _ask_param(key, param)) for param in POLICIES[key].params)
            for key in adjustable
        }
        if not adjustable:
            st.caption("None of the chosen policies has parameters.")
    return tuple(Choice(key, params.get(key, ())) for key in picked)


def _picked_policies() -> list[str]:
    picked = []
    label = st.empty()
    with label.popover("Policies", icon=":material/checklist:", width="stretch"):
        for group in GROUPS:
            keys = [key for key, policy in POLICIES.items() if policy.group == group]
            picked += st.pills(
                group.capitalize(),
                keys,
                selection_mode="multi",
                default=[key for key in keys if key in DEFAULT_POLICIES],
                key=group,
                **LINK,
            )
    st.caption("Comparing " + (", ".join(picked) if picked else "nothing: pick a policy above"))
    return picked


def _ask_param(key: str, param: Param) -> float:
    name = f"{key}.{param.name}"
    kind = int if param.is_whole else float
    return st.number_input(
        name,
        kind(param.low),
        kind(param.high),
        param.default,
        step=1 if param.is_whole else 0.01,
        key=name,
        help=param.help,
        **LINK,
    )
