"""The gaps in other situations, on the Gap page: other memory, more requests, another mix.

Every point is kept as soon as it is computed, so that a cancelled series shows what it has.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import streamlit as st

from engine.figures.legend import legend
from engine.figures.sensitivity import describe_sensitivity, draw_sensitivity, labels
from engine.progress import Progress
from engine.sweeps.sensitivity import (
    Point,
    Series,
    Situation,
    gaps_at,
    seconds,
    series_in_words,
    series_of,
)
from pages.parts import show
from pages.parts.jobs import Job, offer
from pages.parts.store import store
from pages.parts.view import View

NAMES = {"memory": "M", "size": "requests", "share": "mix"}


def _series(view: View) -> dict[str, Series]:
    return {NAMES[series.varies]: series for series in series_of(view.experiment)}


def _key(situation: Situation) -> Hashable:
    return ("gaps", situation.experiment)


def _points(series: Series) -> list[Point]:
    """Those that are there."""
    kept = (store().peek(_key(situation)) for situation in series.situations)
    return [point for point in kept if point is not None]


def _job(view: View, name: str, series: Series) -> Job:
    situations = series.situations

    def compute(progress: Progress) -> bool:
        for number, situation in enumerate(situations):

            def step(share: float, what: str = "", number=number) -> None:
                progress((number + share) / len(situations), what)

            step(0.0)
            store().get(_key(situation), partial(gaps_at, situation, step))
        return True

    return Job(
        key=("gap against", name, view.experiment),
        title=f"gap against {name}",
        seconds=seconds(series),
        compute=compute,
    )


def tell_sensitivity(view: View) -> None:
    """One chart a series, with one scale of gaps and one legend for all."""
    all_series = _series(view)
    if not all_series:
        return
    st.markdown("## The gap in other situations")
    points = {name: _points(series) for name, series in all_series.items()}
    everywhere = [point for of_series in points.values() for point in of_series]
    if everywhere:
        st.html(legend(labels(everywhere)))
        for column, (name, series) in zip(
            st.columns(len(all_series)), all_series.items(), strict=True
        ):
            if points[name]:
                with column:
                    show.figure(
                        draw_sensitivity(series, points[name], everywhere),
                        describe_sensitivity(series, points[name]),
                        f"gap-against-{name}",
                    )
                    st.caption(series_in_words(points[name]))
        st.caption(
            "The upright line is the present setting. All charts have the same logarithmic scale "
            "of gaps, on which less than 0.1 % is drawn as 0.1 %."
        )
    else:
        st.caption("More memory, more requests, another mix: each against a bound of its own.")
    offer([_job(view, name, series) for name, series in all_series.items()], "Try other situations")
