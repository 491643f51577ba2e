"""What a policy's parameter buys and costs, on the Latency page."""

from __future__ import annotations

import streamlit as st

from engine import POLICIES
from engine.figures.tradeoff import describe_tradeoff, draw_tradeoff
from engine.sweeps.tradeoff import in_words, sweep, values_of
from pages.parts import show
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import linked
from pages.parts.view import View


def tell_tradeoff(view: View) -> None:
    """A parameter to pick, and the first token against the later ones along its values."""
    chosen = {choice.key: dict(choice.params) for choice in view.choices}
    offered = {
        f"{key}.{param.name}": (key, param)
        for key in chosen
        for param in POLICIES[key].params
        if not POLICIES[key].timed
    }
    if not offered:
        return
    st.markdown("## What a parameter buys")
    names = list(offered)
    usual = next((name for name in names if name.endswith(("chunk_size", "watermark"))), names[0])
    name = st.selectbox("Parameter", names, **linked("parameter", usual, options=names), width=320)
    key, param = offered[name]
    job = _job(view, key, param, chosen[key])
    for outcomes in finished([job]):
        st.markdown(in_words(param, outcomes, view.clock.unit))
        given = (param.name, view.clock.unit)
        show.figure(
            draw_tradeoff(outcomes, key, *given), describe_tradeoff(outcomes, *given), "tradeoff"
        )
        st.caption(f"{param.help} Everything else as in the sidebar.")
    offer([job], f"Try values of {name}")


def _job(view: View, key: str, param, params: dict) -> Job:
    policy, now = POLICIES[key], params[param.name]

    def simulate(**changed):
        given = {**params, **changed}
        return view.topology.run(policy, view.workload, view.memory, clock=view.clock, **given)

    each = view.topology.cost(policy, len(view.workload))
    return Job(
        key=(*view.place, "tradeoff", key, param.name, tuple(params.items())),
        title=f"{key} along {param.name}",
        seconds=each * len(values_of(param, now)) + 1e-3,
        compute=lambda progress: sweep(simulate, param, now, progress),
    )
