"""How results are put on a page: figures, tables, downloads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import pandas as pd
import streamlit as st

from engine import Run, wording
from engine.measure import remarks as remarks_on
from engine.measure.csv_text import csv_text
from engine.measure.league import Entry, explain_columns, written_table
from pages.parts.jobs import begin, finished
from pages.parts.literal import literal
from pages.parts.runs import advice_job, bound_jobs, headroom_job
from pages.parts.store import store
from pages.parts.view import View

DRAWN = 8  # lines a chart; more cannot be told apart
WORDS = ("Load",)  # columns of words


def once(key: Hashable, draw: Callable[[], Any]) -> Any:
    """A chart, drawn when somebody first asks for that of this key."""
    return store().get(("chart", key), draw)


def figure(drawn, alt: str, key: str, zooms: bool = False, bar: bool = True, **options):
    """A chart with its image button and a text for those who cannot see it.

    `bar` offers the buttons, which would hide a very small chart.
    `zooms` lets the wheel zoom into it; on a phone, where that would catch a swipe over
    the page, it and dragging stay off.
    """
    if "Mobi" in (st.context.headers.get("User-Agent") or ""):
        drawn = deepcopy(drawn)  # others look at the same
        drawn.update_layout(dragmode=False)
        zooms = False
    return st.plotly_chart(
        drawn,
        key=key,
        alt=alt,
        config={
            "displaylogo": False,
            "displayModeBar": "hover" if bar else False,
            "scrollZoom": zooms,
            "toImageButtonOptions": {"format": "png", "scale": 2, "filename": key},
        },
        **options,
    )


def league(entries: Sequence[Entry]) -> None:
    """The league table, best first, and its download."""
    unit = entries[0].run.unit
    rows(
        written_table(entries),
        "League table of the compared policies, lowest mean latency first",
        explain_columns(unit),
    )
    what = " (batch iterations)" if unit == "rounds" else ""
    st.caption(f"Times in {unit}{what}. Lowest mean latency first.")


def how_many_drawn(entries: Sequence[Entry]) -> None:
    """Says so where the chart holds fewer than the table."""
    if len(entries) > DRAWN:
        st.caption(f"The chart shows the best {DRAWN} of {len(entries)}; the table has all.")


def rows(table: pd.DataFrame, alt: str, help: Mapping[str, str] | None = None) -> None:
    """A table of written numbers: the first column is a label, the others align to the right."""
    config = {
        name: st.column_config.TextColumn(alignment="right", help=(help or {}).get(name))
        for name in table.columns[1:]
        if name not in WORDS
    }
    st.dataframe(table, hide_index=True, alt=alt, column_config=config)


def numbers(table: pd.DataFrame, alt: str) -> None:
    """A table whose first column is a label and whose others are times."""
    first, *others = table.columns
    written = {name: table[name].map(wording.number) for name in others}
    rows(pd.DataFrame({first.capitalize(): table[first], **written}), alt)
    st.caption(f"{alt}.")


def loads(entries: Sequence[Entry]) -> None:
    """What the latencies mean: a warning where those of the best run are no steady state."""
    best, *others = remarks_on.loads(entries)
    if entries[0].verdict.keeps_up:
        st.caption(literal(best))
    else:
        st.warning(literal(best), icon=":material/trending_up:")
    remarks(others)


def remarks(sentences: Sequence[str]) -> None:
    """What goes with an answer, in one paragraph; nothing where there is nothing to say."""
    if sentences:
        st.markdown(" ".join(map(literal, sentences)))


def left_out(run: Run) -> None:
    """Who is not in a picture of memory, where requests left unserved."""
    if len(run.unserved):
        offered = wording.count(run.offered)
        st.caption(f"Of {offered} requests, {run.unserved.in_words()}; they held no memory.")


def advice(view: View, best: Entry) -> None:
    """What to change next, where trying it out takes no time."""
    job = advice_job(view, best)
    if job.is_quick:
        st.markdown(" ".join(["**What next?**", *job.result()]))


def offer_bound(view: View) -> None:
    """The quickest bound, where none is there yet: begun, or a button."""
    waiting = [job for job in bound_jobs(view) if not job.is_done]
    if waiting:
        begin(min(waiting, key=lambda job: job.seconds), "How far from the best possible?")


def headroom(view: View, best: Entry) -> None:
    """How much more the best policy carries; nothing for a backlog."""
    if best.verdict.kind in ("backlog", "too short"):
        return
    job = headroom_job(view, best)
    for sentence in finished([job]):
        st.markdown(sentence)
    begin(job)


def download(label: str, name: str, table) -> None:
    """A CSV that is built when the button is pressed; `table` returns the data frame."""
    st.download_button(
        label,
        data=lambda: csv_text(table()).encode(),
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
