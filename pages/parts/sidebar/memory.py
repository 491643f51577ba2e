"""M from a GPU's memory: every term shown, and M in GiB and blocks."""

from __future__ import annotations

import streamlit as st

from engine import InputError, wording
from engine.engines import Engine
from engine.machine.hardware import DEFAULT as DEFAULT_PRESET
from engine.machine.hardware import (
    GIB,
    Budget,
    Preset,
    budget,
    find_preset,
    gpus,
    memory_doubt,
    models,
    tokens_held,
)
from pages.parts.fold import Fold
from pages.parts.literal import literal

BLOCK = 16  # tokens, vLLM's own value


def derive_memory(preset: Preset | None) -> None:
    """A calculator whose result can be taken over as M."""
    known = preset if preset is not None and preset.model else find_preset(DEFAULT_PRESET)
    label = "M from a GPU's memory"
    with Fold(st.popover, label, icon=":material/calculate:", width="stretch") as fold:
        if not fold.is_open:
            return
        model = models()[_pick("Model", models(), known.model)]
        gpu = gpus()[_pick("GPU", gpus(), known.gpu)]
        left, right = st.columns(2)
        parallel = left.number_input("Tensor parallel", 1, 64, known.tensor_parallel)
        share = right.number_input("Share of memory used", 0.1, 1.0, 0.9, step=0.05)
        reserve = left.number_input("Reserve (GiB)", 0.0, 1000.0, 0.0, step=0.5)
        narrow = right.toggle("8-bit KV cache")
        try:
            terms = budget(model, gpu.memory_gib, parallel, share, reserve, 1 if narrow else 2)
        except InputError as problem:
            st.warning(literal(problem))
            return
        _terms(terms)
        st.button(
            f"Use M = {wording.tokens(terms.tokens)}",
            on_click=_use,
            args=(terms.tokens,),
        )
        blocks = st.number_input(f"Or M in blocks of {BLOCK} tokens", 1, None, 1024)
        st.button("Use these blocks", on_click=_use, args=(blocks * BLOCK,))
        gib = st.number_input("Or M in GiB of KV cache on each GPU", 0.01, None, 1.0, step=0.5)
        tokens = max(1, int(gib * GIB // terms.bytes_per_token))
        st.button(f"Use {wording.tokens(tokens)}", on_click=_use, args=(tokens,))


def doubts_of_memory(memory: int) -> list[str]:
    """Whether M is far from what the chosen GPUs hold; nothing where it is not."""
    doubt = memory_doubt(memory, st.session_state["preset"])
    return [doubt] if doubt else []


def offer_memory(memory: int) -> None:
    """Where M is far from what the chosen GPUs hold, says so and offers theirs."""
    preset = st.session_state["preset"]
    held = None if preset is None else tokens_held(preset)
    doubts = doubts_of_memory(memory)
    if not doubts or held is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(literal(doubts[0]), icon=":material/memory:")
        st.button(
            f"Use {wording.tokens(held)}",
            key="use what the GPUs hold",
            on_click=_use,
            args=(held,),
            help="With 90 % of the memory used, weights and KV cache in 16 bits, no reserve; other "
            "assumptions are under *M from a GPU's memory* in the sidebar.",
        )


def _pick(label: str, options: dict, default: str) -> str:
    keys = list(options)
    return st.selectbox(
        label, keys, index=keys.index(default), format_func=lambda key: options[key].title
    )


def _terms(terms: Budget) -> None:
    st.dataframe(
        {
            "On each GPU": ["Usable", "− weights", "− reserve", "= for KV cache", "a token takes"],
            "": [
                *(f"{gib:.2f} GiB" for gib in (terms.usable, terms.weights, terms.reserve)),
                f"{terms.for_cache:.2f} GiB",
                f"{terms.bytes_per_token:,.0f} bytes",
            ],
        },
        hide_index=True,
        alt="Where the memory of each GPU goes",
    )


def _use(tokens: int) -> None:
    st.session_state["memory"] = tokens


def memory_in_words(memory: int, preset: Preset | None, engine: Engine) -> str:
    """M in the units of an engine's log."""
    block = BLOCK if engine.is_ideal else engine.block_size
    blocks = f"{wording.count(memory // block)} blocks of {block}"
    if preset is None or not preset.model:
        return blocks
    token_bytes = models()[preset.model].bytes_per_token(preset.tensor_parallel)
    return f"{blocks}, {memory * token_bytes / GIB:.2f} GiB on each GPU"
