"""What a policy's parameter buys and costs, on the Latency page."""

from __future__ import annotations

import streamlit as st

from engine import Choice, Experiment
from engine.figures.tradeoff import describe_tradeoff, draw_tradeoff
from engine.policy_parameters import Param
from engine.sweeps.tradeoff import in_words, try_values, values_of
from pages.parts import show
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import linked
from pages.parts.view import View


def tell_tradeoff(view: View) -> None:
    """A parameter to pick, and the first token against the later ones along its values."""
    offered = {
        f"{choice.key}.{param.name}": (choice, param)
        for choice in view.choices
        for param in choice.policy.params
        if not choice.policy.timed
    }
    if not offered:
        return
    st.markdown("## What a parameter buys")
    names = list(offered)
    usual = next((name for name in names if name.endswith(("chunk_size", "watermark"))), names[0])
    name = st.selectbox("Parameter", names, **linked("parameter", usual, options=names), width=320)
    choice, param = offered[name]
    job = _job(view.experiment, choice, param)
    unit = view.deployment.unit
    for outcomes in finished([job]):
        st.markdown(in_words(param, outcomes, unit))
        show.figure(
            draw_tradeoff(outcomes, choice.key, param.name, unit),
            describe_tradeoff(outcomes, param.name, unit),
            "tradeoff",
        )
        st.caption(f"{param.help} Everything else as in the sidebar.")
    offer([job], f"Try values of {name}")


def _job(experiment: Experiment, choice: Choice, param: Param) -> Job:
    values = values_of(param, choice.values[param.name])
    return Job(
        key=("tradeoff", experiment, choice, param.name),
        title=f"{choice.key} along {param.name}",
        seconds=experiment.seconds(choice) * len(values) + 1e-3,
        compute=lambda progress: try_values(experiment, choice, param, progress),
    )
