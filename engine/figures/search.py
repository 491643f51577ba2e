"""How near the bound a search comes as it is given more work."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.figures.layout import lay_out
from engine.figures.palette import policy_style
from engine.figures.percent_axis import height, percent_axis
from engine.measure.league import Entry

TICKS = [digit * 10.0**power for power in range(-3, 3) for digit in (1, 2, 5)]  # seconds
DECADES = 100  # the work drawn, over the least of it that is drawn


def draw_search(story: Sequence[tuple[float, Entry]], rival: Entry | None) -> go.Figure:
    """The gap of the best schedule found against the work spent, and the rival's for comparison.

    Parameters
    ----------
    story : (seconds of work so far, the best by then), each covered by a bound
    rival : the best of the other policies, if a bound covers it
    """
    figure = go.Figure()
    colour, dash = policy_style("best-found")
    work = [seconds for seconds, _ in story]
    gaps = [entry.gap for _, entry in story if entry.gap is not None]
    figure.add_scatter(
        x=work,
        y=[height(gap) for gap in gaps],
        name="best-found",
        mode="lines+markers+text",
        line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
        marker={"size": 7},
        text=["" for _ in story[1:]] + [wording.gap(story[-1][1].gap)],
        textposition="top center",
        cliponaxis=False,
        customdata=[
            [wording.gap(entry.gap), wording.total(entry.numbers["total_latency"])]
            for _, entry in story
        ],
        hovertemplate="%{x:.3g} s of work: %{customdata[0]}<br>"
        f"total latency %{{customdata[1]}} {story[0][1].run.unit}<extra>best-found</extra>",
    )
    since = max(work[0], work[-1] / DECADES)
    if rival is not None and rival.gap is not None:
        gaps.append(rival.gap)
        _add_rival(figure, rival, rival.gap)
    figure.update_xaxes(
        title="work spent on the search (s)",
        type="log",
        tickvals=TICKS,
        ticktext=[f"{seconds:g}" for seconds in TICKS],
        range=[math.log10(since / 1.3), math.log10(max(2 * since, work[-1]) * 1.3)],
    )
    figure.update_yaxes(**percent_axis(gaps), automargin=True)
    lay_out(figure, 380)
    return figure


def _add_rival(figure: go.Figure, rival: Entry, gap: float) -> None:
    """A level line in the rival's style, with its name and gap."""
    colour, dash = policy_style(rival.run.policy)
    figure.add_hline(
        y=height(gap),
        line={"color": colour, "dash": dash, "width": 2},
        annotation={
            "text": f"{rival.label} {wording.gap(gap)}",
            "xanchor": "right",
            "yanchor": "bottom",
            "y": math.log10(height(gap)),
        },
    )


def describe_search(story: Sequence[tuple[float, Entry]]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    (begun, first), (ended, last) = story[0], story[-1]
    return (
        f"Gap of the best schedule found, by the work spent on it: {wording.gap(first.gap)} after "
        f"{begun:.2g} s, {wording.gap(last.gap)} after {ended:.2g} s."
    )
