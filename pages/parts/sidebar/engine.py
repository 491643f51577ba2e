"""Which serving engine runs on the GPU, and its options."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine.engines import ENGINES, IDEAL, Engine, find_engine
from engine.machine.catalogue import gpus
from engine.machine.hardware import Preset
from pages.parts.fold import Fold
from pages.parts.link import forget, linked
from pages.parts.literal import literal

MOST = 10**6
COUNTS = {  # option: (label, least, help)
    "block_size": ("Block size (tokens)", 1, "KV cache is given out in blocks of so many tokens."),
    "max_num_seqs": ("max_num_seqs (0: no limit)", 0, "How many requests may run at once."),
    "max_num_batched_tokens": (
        "max_num_batched_tokens (0: no limit)",
        0,
        "How many tokens a round may prefill and decode.",
    ),
}
SETTINGS = (*COUNTS, "chunked_prefill", "watermark")


def ask_engine(preset: Preset | None) -> Engine:
    """The engine with its options; its defaults are those on the chosen GPU."""
    titles = {key: engine.title for key, engine in ENGINES.items()}
    profile = st.selectbox(
        "Serving engine",
        titles,
        format_func=titles.__getitem__,
        on_change=forget,
        args=(SETTINGS,),
        help="Ideal: the papers' model, where policies look ahead and no limit of an engine's "
        "holds. Inside a real engine every policy is an order of those who wait; the engine "
        "admits and preempts by its own rules.",
        **linked("engine", IDEAL.profile, options=titles),
    )
    gpu = gpus().get(preset.gpu) if preset is not None else None
    usual = find_engine(profile, gpu)
    if usual.is_ideal:
        return usual
    with Fold(st.expander, "Engine options", icon=":material/tune:") as fold:
        options: dict[str, object] = {
            name: fold.control(st.number_input)(
                label,
                least,
                MOST,
                help=help,
                **linked(name, getattr(usual, name), int, low=least, high=MOST),
            )
            for name, (label, least, help) in COUNTS.items()
        }
        options["watermark"] = fold.control(st.number_input)(
            "Watermark (share of blocks)",
            0.0,
            0.9,
            step=0.01,
            format="%.3g",
            help="Admission leaves so many blocks free while something runs.",
            **linked("watermark", usual.watermark, float, low=0.0, high=0.9),
        )
        options["chunked_prefill"] = bool(options["max_num_batched_tokens"]) and fold.control(
            st.toggle
        )(
            "Chunked prefill",
            help="Prompts are cut to fit the tokens of a round.",
            **linked("chunked_prefill", usual.chunked_prefill, bool),
        )
    engine = replace(usual, **options)  # type: ignore[arg-type]
    st.caption(literal(f"{engine.in_words}. Shared prefixes are not reused here."))
    return engine
