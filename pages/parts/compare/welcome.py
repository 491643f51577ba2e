"""What a first visitor of Compare is told: what this is, and where to go next."""

from __future__ import annotations

import streamlit as st

from engine import wording
from pages.parts.view import View

NEXT: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("pages/8_Learn.py", "Why order matters, in a minute", {"lesson": "head-of-line"}),
    ("pages/1_Memory_Gantt.py", "Who waited for whom", {}),
    ("pages/3_Gap_to_Bound.py", "How we know the best possible", {}),
    ("pages/8_Learn.py", "Beat the scheduler yourself", {"part": "game"}),
)


def welcome(view: View) -> None:
    """Two sentences and four links."""
    st.markdown(
        f"**New here?** {wording.count(len(view.workload))} requests wait for one GPU whose memory "
        f"holds {wording.count(view.deployment.memory)} tokens of KV cache, and each policy "
        "decides whom to start first. Pick your kind of load under *Start from* in the sidebar, "
        "change *M*, and all is computed again."
    )
    with st.container(horizontal=True):
        for path, label, settings in NEXT:
            st.page_link(path, label=label, icon=":material/arrow_outward:", query_params=settings)
