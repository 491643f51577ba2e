"""Which part of an uploaded trace to look at: a window of its time, a sample, ties spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from engine import wording
from engine.figures.arrivals import describe_arrivals, draw_arrivals
from engine.traces import Report, TraceRequests
from engine.traces.part import TracePart, namer, steps
from pages.parts import show
from pages.parts.link import linked
from pages.parts.store import uploads

BRUSH, BEGIN, END = "arrivals", "part_from", "part_to"
SETTINGS = (BEGIN, END, "one_in", "spread", "part_seed")
MOST_IN_ONE = 10_000


def ask_part(place: tuple, whole: TraceRequests, report: Report) -> TracePart:
    """The part that the user looks at; all of the trace unless asked.

    `place` is a key of the whole trace for caches.
    """
    if report.span_s == 0:
        return TracePart()
    with st.expander("Part of the trace", icon=":material/date_range:"):
        between = _ask_window(place, whole)
        one_in = st.number_input(
            "Keep one request in",
            1,
            MOST_IN_ONE,
            help="At random, by the seed. The load falls by as much: serve it with less.",
            **linked("one_in", 1, int, low=1, high=MOST_IN_ONE),
        )
        jittered = report.is_coarse and st.toggle(
            "Spread arrivals within their bins",
            help=f"{wording.count(report.ties)} requests arrive at the very moment of another, "
            "because the log rounds its times: spread them evenly over what was rounded away.",
            **linked("spread", False, bool),
        )
        seed = 0
        if one_in > 1 or jittered:
            seed = st.number_input(
                "Seed of the part", 0, 10**6, **linked("part_seed", 0, int, low=0, high=10**6)
            )
    return TracePart(between, 1 / one_in, jittered, seed)


def _overview(whole: TraceRequests) -> tuple[tuple[float, ...], list[str], np.ndarray]:
    """The steps of a trace, their names, and how many requests arrive from each to the next."""
    at = steps(whole)
    count, _ = np.histogram(whole.seconds, np.array(at))
    return at, list(map(namer(whole), at)), count


def _ask_window(place: tuple, whole: TraceRequests) -> tuple[float, float] | None:
    """Drawn with a brush, or two moments picked from lists; None for all."""
    at, names, count = uploads().get(("overview", place), lambda: _overview(whole))
    name_of = dict(zip(at, names, strict=True)).__getitem__
    chart = st.container()

    def ask(label: str, name: str, options: tuple[float, ...], default: float) -> float:
        picked: float = st.selectbox(
            label,
            options,
            format_func=name_of,
            help="UTC, where the trace has dates; else since its first request.",
            **linked(name, default, float, options=options),
        )
        return picked

    first = ask("From", BEGIN, at[:-1], at[0])
    last = ask("To", END, at[at.index(first) + 1 :], at[-1])
    with chart:
        show.figure(
            draw_arrivals(count, at, names, (first, last)),
            describe_arrivals(count, name_of(first), name_of(last)),
            BRUSH,
            bar=False,
            on_select=lambda: _brushed(at),
            selection_mode="box",
        )
    if last < at[-1]:
        return first, last
    # To the end: also of arrivals that are spread beyond the last step.
    return None if first == at[0] else (first, math.inf)


def _brushed(at: Sequence[float]) -> None:
    """Take the box that was drawn on the chart for the window, to the nearest steps."""
    boxes = st.session_state[BRUSH]["selection"]["box"]
    if boxes:
        first, last = (int(np.abs(np.array(at) - x).argmin()) for x in sorted(boxes[0]["x"]))
        first = min(first, len(at) - 2)
        st.session_state[BEGIN], st.session_state[END] = at[first], at[max(last, first + 1)]
