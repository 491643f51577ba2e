"""How many servers there are, how requests get to them, and which clients wait how long."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine.admission_limits import (
    LONGEST_MODEL_LEN,
    LONGEST_PATIENCE,
    LONGEST_QUEUE,
    AdmissionLimits,
)
from engine.demand.source import Source
from engine.fleet import ROUTINGS, Topology
from engine.machine.clock import Clock
from pages.parts.fold import Fold
from pages.parts.link import linked

ALIKE, POOLS = "alike", "pools"
KINDS = {ALIKE: "All do everything", POOLS: "Some prefill, others decode"}


def ask_servers(source: Source, clock: Clock) -> tuple[Topology, Source]:
    """The servers, and the requests with their closed loop and their admission limits."""
    with Fold(st.expander, "Servers and clients", icon=":material/dns:") as fold:
        kind = fold.control(st.selectbox)(
            "Replicas",
            KINDS,
            format_func=KINDS.__getitem__,
            **linked("servers", ALIKE, options=KINDS),
        )
        topology = _ask_replicas(fold) if kind == ALIKE else _ask_pools(fold, clock)
        clients = fold.control(st.number_input)(
            "Clients in a closed loop (0: none)",
            0,
            100_000,
            help="So many clients send a request, wait for its answer and send the next at once; "
            "arrivals are ignored.",
            **linked("clients", 0, int, low=0, high=100_000),
        )
        limits = _ask_admission_limits(fold, clock, bool(clients))
    return topology, replace(source, concurrency=clients, admission_limits=limits)


def _ask_admission_limits(fold: Fold, clock: Clock, in_loop: bool) -> AdmissionLimits:
    """Who is not served; the clients of a closed loop wait, and all come in."""
    patience, queue_limit = 0.0, 0
    if not in_loop:
        patience = fold.control(st.number_input)(
            f"Patience ({clock.unit}; 0: no end)",
            0.0,
            float(LONGEST_PATIENCE),
            format="%.4g",
            help="A client who has waited longer without having been admitted gives up.",
            **linked(
                "patience" if clock.is_rounds else "patience_s",
                0.0,
                float,
                low=0.0,
                high=LONGEST_PATIENCE,
            ),
        )
        queue_limit = _ask_limit(
            fold,
            "queue_limit",
            "Queue limit (requests; 0: none)",
            LONGEST_QUEUE,
            "One that comes while so many wait for admission, at its server, is turned away.",
        )
    longest = _ask_limit(
        fold,
        "max_model_len",
        "max_model_len (tokens; 0: none)",
        LONGEST_MODEL_LEN,
        "Longer requests, prompt and output together, are set aside before the run.",
    )
    return AdmissionLimits(patience, queue_limit, longest)


def _ask_limit(fold: Fold, name: str, label: str, most: int, help: str) -> int:
    return fold.control(st.number_input)(
        label, 0, most, help=help, **linked(name, 0, int, low=0, high=most)
    )


def _count(fold: Fold, name: str, label: str, help: str | None = None) -> int:
    return fold.control(st.number_input)(
        label, 1, 100, help=help, **linked(name, 1, int, low=1, high=100)
    )


def _ask_routing(fold: Fold) -> str:
    return fold.control(st.selectbox)(
        "Routing",
        ROUTINGS,
        help="  \n".join(f"**{key}**: {rule}" for key, (rule, _) in ROUTINGS.items()),
        **linked("routing", "round-robin", options=ROUTINGS),
    )


def _ask_replicas(fold: Fold) -> Topology:
    replicas = _count(fold, "replicas", "How many", "Each has the memory M and the same policy.")
    return Topology(replicas, _ask_routing(fold) if replicas > 1 else "round-robin")


def _ask_pools(fold: Fold, clock: Clock) -> Topology:
    left, right = st.columns(2)
    with left:
        prefill = _count(fold, "prefillers", "That prefill")
    with right:
        decode = _count(fold, "decoders", "That decode")
    unit = "rounds" if clock.is_rounds else "ms"
    transfer = fold.control(st.number_input)(
        f"Moving a token's KV cache ({unit})",
        0.0,
        1e6,
        format="%.4g",
        help="From a server that prefills to one that decodes. It takes no time of either.",
        **linked("transfer", 0.0, float, low=0.0, high=1e6),
    )
    transfer_time = transfer if clock.is_rounds else transfer / 1000
    return Topology(1, _ask_routing(fold), (prefill, decode), transfer_time)
