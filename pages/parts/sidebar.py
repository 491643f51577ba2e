"""The sidebar: everything that makes a scenario, each control in the link."""

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
from pages.parts.link import linked
from pages.parts.store import store
from pages.parts.upload import uploaded
from pages.parts.view import Choice, View

MIX, UPLOAD = "mix", "upload"
DEFAULT_POLICIES = ("vllm", "fcfs", "mc-sf", "shortest-total", "svf", "sorted-f")
ARRIVAL_TITLES = {
    "backlog": "All at once (backlog)",
    "poisson": "Poisson",
    "gamma": "Bursty (gamma gaps)",
    "on-off": "On and off",
}


def ask() -> View:
    """Draw the controls and return what they describe."""
    sources = [MIX, *examples(), UPLOAD]
    source = st.selectbox(
        "Start from",
        sources,
        format_func=_source_title,
        on_change=_take_over_example,
        help="A mix of request classes to tune, a ready-made example, or your own trace.",
        **linked("from", MIX, options=sources),
    )
    scenario = None
    if source == UPLOAD:
        name, workload = uploaded()
        memory = _ask_memory(Scenario.memory)
        title = f"{name}, M = {wording.count(memory)}"
    elif (base := _base(source)) is not None:
        if source != MIX:
            st.caption(load_example(source).shows)
        scenario = _ask_scenario(base)
        memory, title = scenario.memory, str(scenario)
        workload = store().get(scenario, lambda: generate(scenario))
    else:
        example = load_example(source)
        st.caption(example.shows)
        memory, workload = _ask_memory(example.memory), example.workload
        title = example.title
        if memory != example.memory or "M = " not in title:
            title = f"{title}, M = {wording.count(memory)}"
    choices = _ask_policies()
    st.caption(f"{title}. The address of this page is a link to this view.")
    return View(title, workload, memory, choices, scenario)


def _source_title(source: str) -> str:
    fixed = {MIX: "A mix of request classes", UPLOAD: "My own trace (CSV)"}
    return fixed.get(source) or examples()[source].title


def _base(source: str) -> Scenario | None:
    """The scenario that a source starts from; None where its requests are written out."""
    return Scenario() if source == MIX else load_example(source).scenario


def _take_over_example() -> None:
    """A newly picked source brings its own values: forget those of the one before."""
    for name in ("memory", "share", "first", "second", "n", "by_horizon", "horizon", *RANGES):
        st.session_state["settings"].pop(name, None)
        st.session_state.pop(name, None)


def _ask_memory(default: int) -> int:
    return st.number_input(
        "KV-cache memory M (tokens)",
        1,
        MAX_MEMORY,
        step=1024,
        help="How many tokens of KV cache the GPU has room for. 16,492: Llama-2-70B on two A100s.",
        **linked("memory", default, int, low=1, high=MAX_MEMORY),
    )


def _ask_scenario(base: Scenario) -> Scenario:
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
        memory = _ask_memory(base.memory)
    with arrival_slot:
        timing = _ask_arrivals(base)
    with size_slot:
        size = _ask_size(base, timing["arrivals"])
    mix = ((first, share / 100), (second, 1 - share / 100))
    return Scenario(memory=memory, mix=mix, seed=seed, **size, **timing)


def _ask_number(name: str, label: str, default: float, help: str, **options) -> float:
    """A field of the scenario, within its range."""
    low, high, whole = RANGES[name]
    kind = int if whole else float
    return st.number_input(
        label,
        kind(low),
        kind(high),
        help=help,
        **options,
        **linked(name, kind(default), kind, low=low, high=high),
    )


def _ask_size(base: Scenario, arrivals: str) -> dict:
    """How many requests: a number or, where they arrive over time, a horizon."""
    by_horizon = arrivals != "backlog" and st.toggle(
        "Set a horizon instead of a number",
        **linked("by_horizon", base.horizon is not None, bool),
    )
    if by_horizon:
        told = "The requests that arrive up to this round."
        default = base.horizon or 20_000
        return {
            "horizon": _ask_number(
                "horizon", "Horizon (rounds)", default, told, step=1000.0, format="%.0f"
            )
        }
    return {"n": _ask_number("n", "Requests", base.n or 2000, "How many to draw.", step=100)}


def _ask_arrivals(base: Scenario) -> dict:
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
        timing["rate"] = _ask_number(
            "rate", "Arrivals a round", base.rate, told, step=0.01, format="%.4g"
        )
    if arrivals == "gamma":
        told = "Standard deviation of the gaps over their mean: 1 is Poisson, more is burstier."
        timing["burstiness"] = _ask_number(
            "burstiness", "Burstiness (CV of the gaps)", base.burstiness, told, step=0.5
        )
    if arrivals == "on-off":
        told = "Requests arrive only in the first part of every period."
        timing["period"] = _ask_number(
            "period", "Period (rounds)", base.period, told, step=100.0, format="%.0f"
        )
        timing["on_share"] = _ask_number(
            "on_share", "Part of a period with arrivals", base.on_share, told, step=0.05
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
    with st.popover("Policies", icon=":material/checklist:", width="stretch"):
        for group in GROUPS:
            keys = [key for key, policy in POLICIES.items() if policy.group == group]
            chosen = [key for key in keys if key in DEFAULT_POLICIES]
            picked += st.pills(
                group.capitalize(),
                keys,
                selection_mode="multi",
                help="  \n".join(f"**{key}**: {POLICIES[key].rule}" for key in keys),
                **linked(group, chosen, options=keys),
            )
    st.caption("Comparing " + (", ".join(picked) if picked else "nothing: pick a policy above"))
    return picked


def _ask_param(key: str, param: Param) -> float:
    name = f"{key}.{param.name}"
    kind = int if param.is_whole else float
    return st.number_input(
        f"{key}: {param.name.replace('_', ' ')}",
        kind(param.low),
        kind(param.high),
        step=1 if param.is_whole else 0.01,
        help=param.help,
        **linked(name, param.default, kind, low=param.low, high=param.high),
    )
