"""What to change next, on the Capacity page: what a tenth more of each thing buys."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.capacity import rate
from engine.capacity.levers import LeverEffect, effects, in_words, levers, memory_use
from engine.capacity.rate import Capacity
from engine.progress import Progress
from engine.scale_out import where
from pages.parts import show
from pages.parts.capacity.controls import Planning, clock_step
from pages.parts.jobs import Job, finished, offer
from pages.parts.view import View


def tell_levers(view: View, planning: Planning, best: Capacity) -> None:
    """The binding resource of the best policy, and the rate that each lever buys."""
    if best.rate is None or best.is_least:
        return
    st.markdown("## What to change next")
    job = _job(planning, best)
    for bought, used in finished([job]):
        st.markdown(in_words(best.label, bought, used))
        _table(view, bought)
    if not job.is_done:
        st.caption(f"One thing at a time, a tenth better: what would it buy under {best.label}?")
    offer([job], "Try what a tenth more buys")


def _job(planning: Planning, best: Capacity) -> Job:
    question = planning.question

    def compute(progress: Progress) -> tuple[list[LeverEffect], float]:
        return effects(best, question, where(), progress), memory_use(best, question)

    return Job(
        key=("levers", question, best.choice),
        title=f"what a tenth more buys under {best.label}",
        seconds=len(levers(question)) * rate.seconds(best.choice, question),
        compute=compute,
    )


def _table(view: View, bought: Sequence[LeverEffect]) -> None:
    table = pd.DataFrame(
        {
            "Change": [effect.title for effect in bought],
            f"Largest rate (a {clock_step(view)})": [
                wording.number(effect.rate) for effect in bought
            ],
            "Buys": [_signed(effect.gain) for effect in bought],
        }
    )
    show.rows(table, "What each change of a tenth does to the largest rate")


def _signed(gain: float) -> str:
    return f"{'+' if gain >= 0 else '−'}{wording.percent(abs(gain))}"
