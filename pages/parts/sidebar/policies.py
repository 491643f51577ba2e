"""Which policies to compare, and their parameters."""

from __future__ import annotations

import streamlit as st

from engine import POLICIES, Choice
from engine.policy import GROUPS
from engine.policy_parameters import Param
from pages.parts.fold import Fold
from pages.parts.link import linked

DEFAULT_POLICIES = ("vllm", "fcfs", "mc-sf", "shortest-total", "svf", "sorted-f")


def ask_policies() -> tuple[Choice, ...]:
    """The policies in the sidebar's order, each with its parameters."""
    picked = _picked()
    adjustable = [key for key in picked if POLICIES[key].params]
    with Fold(st.expander, "Policy parameters", icon=":material/settings:") as fold:
        params = {
            key: tuple((param.name, _ask(fold, key, param)) for param in POLICIES[key].params)
            for key in adjustable
        }
        if fold.is_open and not adjustable:
            st.caption("None of the chosen policies has parameters.")
    return tuple(Choice(key, params.get(key, ())) for key in picked)


def _picked() -> list[str]:
    picked = []
    with Fold(st.expander, "Policies", icon=":material/checklist:") as fold:
        for group in GROUPS:
            keys = [key for key, policy in POLICIES.items() if policy.group == group]
            chosen = [key for key in keys if key in DEFAULT_POLICIES]
            picked += fold.control(st.pills)(
                group.capitalize(),
                keys,
                selection_mode="multi",
                help="  \n".join(f"**{key}**: {POLICIES[key].rule}" for key in keys),
                **linked(group, chosen, options=keys),
            )
    st.caption("Comparing " + (", ".join(picked) if picked else "nothing: pick a policy above"))
    return picked


def _ask(fold: Fold, key: str, param: Param) -> float:
    name = f"{key}.{param.name}"
    kind = int if param.is_whole else float
    return fold.control(st.number_input)(
        f"{key}: {param.name.replace('_', ' ')}",
        kind(param.low),
        kind(param.high),
        step=1 if param.is_whole else 0.01,
        help=param.help,
        **linked(name, param.default, kind, low=param.low, high=param.high),
    )
