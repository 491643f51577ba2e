"""What to change next, on the Capacity page: what a tenth more of each thing buys."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.capacity import rate
from engine.capacity.levers import LeverEffect, effects, in_words, levers, memory_use
from engine.capacity.rate import Capacity
from pages.parts import show
from pages.parts.capacity.controls import Question, each
from pages.parts.capacity.rates import key_of
from pages.parts.jobs import Job, finished, offer
from pages.parts.view import Choice, View


def tell_levers(view: View, question: Question, best: Capacity) -> None:
    """The binding resource of the best policy, and the rate that each lever buys."""
    if best.rate is None or best.is_least:
        return
    st.markdown("## What to change next")
    job = _job(view, question, best)
    for found, used in finished([job]):
        st.markdown(in_words(best.label, found, used))
        _table(view, found)
    if not job.is_done:
        st.caption(f"One thing at a time, a tenth better: what would it buy under {best.label}?")
    offer([job], "Try what a tenth more buys")


def _job(view: View, question: Question, best: Capacity) -> Job:
    choice = Choice(best.policy, best.params)
    given = (choice.policy, dict(choice.params), question.draws, view.memory, best)
    many = len(levers(view.memory, view.clock, question.objective))

    def compute(progress) -> tuple[list[LeverEffect], float]:
        servers = (question.objective, view.clock, view.topology)
        found = effects(*given, *servers, progress, question.on)
        return found, memory_use(*given, view.clock, view.topology)

    return Job(
        key=(*key_of(view, question), "levers", choice),
        title=f"what a tenth more buys under {best.label}",
        seconds=many * rate.seconds(choice.policy, question.draws, view.topology),
        compute=compute,
    )


def _table(view: View, found: Sequence[LeverEffect]) -> None:
    table = pd.DataFrame(
        {
            "Change": [effect.title for effect in found],
            f"Largest rate (a {each(view)})": [wording.number(effect.rate) for effect in found],
            "Buys": [_signed(effect.gain) for effect in found],
        }
    )
    show.rows(table, "What each change of a tenth does to the largest rate")


def _signed(gain: float) -> str:
    return f"{'+' if gain >= 0 else '−'}{wording.percent(abs(gain))}"
