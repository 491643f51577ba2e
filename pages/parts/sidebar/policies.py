"""Which policies to compare, and their parameters."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import POLICIES, Choice
from engine.engines import Engine
from engine.policy import GROUPS
from engine.policy_parameters import Param
from pages.parts.fold import Fold
from pages.parts.link import linked

DEFAULT_POLICIES = ("vllm", "fcfs", "mc-sf", "shortest-total", "svf", "sorted-f")
USUAL_ORDERS = ("fcfs", "shortest-prompt", "mc-sf", "shortest-total", "svf")


def ask_policies(engine: Engine) -> tuple[Choice, ...]:
    """The policies that run in this engine, in the sidebar's order, each with its parameters."""
    params_of = {
        key: policy.inside(engine).params
        for key, policy in POLICIES.items()
        if engine.is_ideal or policy.order is not None
    }
    picked = _picked(list(params_of), DEFAULT_POLICIES if engine.is_ideal else USUAL_ORDERS)
    adjustable = [key for key in picked if params_of[key]]
    with Fold(st.expander, "Policy parameters", icon=":material/settings:") as fold:
        params = {
            key: tuple((param.name, _ask(fold, key, param)) for param in params_of[key])
            for key in adjustable
        }
        if fold.is_open and not adjustable:
            st.caption("None of the chosen policies has parameters.")
    return tuple(Choice(key, params.get(key, ())) for key in picked)


def _picked(offered: Sequence[str], usual: Sequence[str]) -> list[str]:
    picked = []
    with Fold(st.expander, "Policies", icon=":material/checklist:") as fold:
        for group in GROUPS:
            keys = [key for key in offered if POLICIES[key].group == group]
            if not keys:
                continue
            chosen = [key for key in keys if key in usual]
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
