"""What the Memory Gantt says in words: the run, a pinned request, one round."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import Run, wording
from engine.measure.story import in_words, tell
from engine.memory_curve import held_at, mean_memory, peak_memory
from pages.parts.link import linked


def memory_headline(run: Run) -> str:
    """How full the memory is, on average and at most."""
    return (
        f"**{run.policy}** fills {wording.percent(mean_memory(run) / run.memory)} of M on average "
        f"(peak {wording.tokens(peak_memory(run))} of {wording.count(run.memory)}) and needs "
        f"{wording.amount(run.finished_at.max(), run.unit)}."
    )


def tell_story(run: Run, pinned: int | None) -> None:
    """The life of the pinned request, or how to pin one."""
    if pinned is None:
        st.caption("Click a bar to read why that request waited.")
        return
    for sentence in in_words(tell(run, pinned), run):
        st.markdown(sentence)


def in_memory_at(run: Run, pinned: int | None = None) -> int | None:
    """Step through rounds: the requests in memory at the end of one; None when switched off.

    Stepping starts at the pinned request's arrival.
    """
    if not st.toggle("Step through rounds", **linked("stepping", False, bool)):
        return None
    last = int(run.finish.max())
    first = 1 if pinned is None else max(1, int(run.seen[pinned]))
    at = st.number_input("Round", 1, last, step=1, **linked("at", first, int, low=1, high=last))
    request, held = held_at(run, at)
    hold = "holds" if len(request) == 1 else "hold"
    st.caption(
        f"{wording.counted(len(request), 'request')} in memory {hold} "
        f"{wording.tokens(int(held.sum()))} of {wording.count(run.memory)} at its end"
        f"{_moment_of(run, at)}."
    )
    table = pd.DataFrame(
        {
            "Request": run.workload.row[request],
            "Holds": held,
            "Ends in": run.finish[request] - at,
        }
    )
    st.dataframe(table, hide_index=True, alt=f"Requests in memory at the end of round {at}")
    return at


def _moment_of(run: Run, at: int) -> str:
    """When a round ended, where the axis is in seconds."""
    if run.timetable is None:
        return ""
    return f", at {wording.moment(float(run.ends(at)))}{wording.THIN}s"
