"""The gaps of a trace, window by window over the day, and all windows together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.audit import MEASURED, Audit, RankedSchedule
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import SOLID, policy_style
from engine.figures.percent_axis import height, percent_axis
from engine.figures.time_axis import time_axis

MEASURED_STYLE = ("#a0522d", SOLID)  # what happened, in no policy's colour


def _style(ranked: RankedSchedule) -> tuple[str, str]:
    return MEASURED_STYLE if ranked.policy == MEASURED else policy_style(ranked.policy)


def draw_gap_over_day(audit: Audit, ranking: Sequence[RankedSchedule]) -> go.Figure:
    """One line a schedule: the gap of every window, as wide as the window."""
    figure = go.Figure()
    span = audit.judged[-1].end - audit.judged[0].begin
    scale, title = time_axis(span, audit.unit, audit.unit_seconds)
    # The first is what the audit is about and is drawn last, above the others.
    for rank, ranked in reversed(list(enumerate(ranking))):
        _add_steps(figure, audit, ranked, rank, scale)
    gaps = [f.gap for ranked in ranking for f in ranked.findings if f.gap is not None]
    figure.update_xaxes(title=title)
    figure.update_yaxes(**percent_axis(gaps or [1.0]))
    lay_out(figure, 420, legend=ABOVE, top=40)
    return figure


def _add_steps(
    figure: go.Figure, audit: Audit, ranked: RankedSchedule, rank: int, scale: float
) -> None:
    colour, dash = _style(ranked)
    x: list[float | None] = []
    y: list[float | None] = []
    hovers: list[list[str]] = []
    after = None
    for window, finding in zip(audit.spans_of(ranked), ranked.findings, strict=True):
        if finding.gap is None:
            continue
        if after is not None and window.number != after + 1:  # windows between were not judged
            x, y, hovers = [*x, None], [*y, None], [*hovers, ["", "", ""]]
        after = window.number
        hover = [
            wording.gap(finding.gap),
            wording.count(finding.requests),
            wording.amount(finding.excess, audit.unit),
        ]
        x += [window.begin / scale, window.end / scale]
        y += [height(finding.gap)] * 2
        hovers += [hover, hover]
    figure.add_scatter(
        x=x,
        y=y,
        name=ranked.label,
        legendrank=rank,
        mode="lines",
        line={"color": colour, "dash": dash, "width": 2.5},
        customdata=hovers,
        hovertemplate="%{customdata[0]} over %{customdata[1]} requests<br>%{customdata[2]} above "
        f"the bound<extra>{ranked.label}</extra>",
    )


def describe_gap_over_day(ranking: Sequence[RankedSchedule]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    medians = []
    for ranked in ranking:
        gaps = [f.gap for f in ranked.findings if f.gap is not None]
        if gaps:
            middle = wording.gap(float(np.median(gaps)))
            medians.append(f"{ranked.label} {middle}, at most {wording.gap(max(gaps))}")
    return f"Gap to the certified bound over the day, median of the windows: {'; '.join(medians)}."


def draw_standings(ranking: Sequence[RankedSchedule]) -> go.Figure:
    """Each schedule's gap over all windows as a dot with its interval."""
    figure = go.Figure()
    known = [ranked for ranked in ranking if ranked.gap is not None]
    for ranked in known:
        colour, _ = _style(ranked)
        gap = ranked.gap or 1.0
        low, high = ranked.interval or (gap, gap)
        at = height(gap)
        figure.add_scatter(
            x=[at],
            y=[ranked.label],
            mode="markers",
            marker={"size": 14, "color": colour},
            error_x={
                "type": "data",
                "array": [height(high) - at],
                "arrayminus": [at - height(low)],
                "thickness": 2.5,
                "width": 7,
            },
            customdata=[[wording.gap(ranked.gap), wording.gap(low), wording.gap(high)]],
            hovertemplate="%{customdata[0]}, interval %{customdata[1]} to %{customdata[2]}"
            f"<extra>{ranked.label}</extra>",
        )
    ends = [end for ranked in known for end in (ranked.interval or (ranked.gap or 1.0,))]
    figure.update_xaxes(**percent_axis(ends or [1.0]))
    figure.update_yaxes(range=[len(known) - 0.4, -0.6], automargin=True)
    lay_out(figure, 130 + 32 * len(known), top=16, right=24)
    return figure


def describe_standings(ranking: Sequence[RankedSchedule]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    gaps = ", ".join(f"{ranked.label} {wording.gap(ranked.gap)}" for ranked in ranking)
    return f"Gap to the certified bound over all windows: {gaps}."
