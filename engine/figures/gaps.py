"""Where the policies stand between the certified bounds and each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.bound import Bound
from engine.evidence.certainty import strongest
from engine.figures.layout import lay_out
from engine.figures.palette import BOUND_GREY, policy_style
from engine.figures.ticks import round_numbers, short
from engine.measure.league import Entry

WIDE = 3.0  # largest over smallest: beyond, the axis is logarithmic


def draw_gaps(entries: Sequence[Entry], bounds: Sequence[Bound]) -> go.Figure:
    """Each policy's total latency as a dot, its gap beside it, the best bounds as dashed lines.

    One axis for all, so that the order is that of the latencies, whatever bound covers whom.
    """
    figure = go.Figure()
    unit = entries[0].run.unit
    totals = [entry.numbers["total_latency"] for entry in entries]
    figure.add_scatter(
        x=totals,
        y=[entry.label for entry in entries],
        mode="markers+text",
        marker={
            "size": 16,
            "color": [policy_style(entry.run.policy)[0] for entry in entries],
        },
        text=[f"  {wording.gap(entry.gap)}" for entry in entries],
        textposition="middle right",
        cliponaxis=False,
        customdata=[
            [wording.count(entry.numbers["total_latency"]), wording.gap(entry.gap), _against(entry)]
            for entry in entries
        ],
        hovertemplate=f"%{{y}}: total latency %{{customdata[0]}} {unit}<br>"
        "%{customdata[1]} %{customdata[2]}<extra></extra>",
    )
    lines = strongest(bounds)
    low = min([bound.value for bound in lines] + totals)
    wide = max(totals) > WIDE * low
    _add_lines(figure, lines, wide)
    figure.update_xaxes(title=f"total latency ({unit})", **_totals_axis(low, max(totals), wide))
    figure.update_yaxes(autorange="reversed", automargin=True)
    lay_out(figure, 150 + 44 * len(entries), top=60, right=70)
    return figure


def _add_lines(figure: go.Figure, lines: Sequence[Bound], log: bool) -> None:
    """The bounds, lowest first; of two, one name ends at its line and the other begins there."""
    for number, bound in enumerate(lines):
        side = "center" if len(lines) == 1 else ("right", "left")[number]
        figure.add_vline(
            x=bound.value, line={"color": BOUND_GREY, "dash": "dash", "width": 2}, layer="below"
        )
        figure.add_annotation(
            x=math.log10(bound.value) if log else bound.value,  # as log axes want it
            y=1.0,
            yref="paper",
            text=bound.bound,
            showarrow=False,
            xanchor=side,
            yanchor="bottom",
            font={"color": BOUND_GREY},
        )


def _totals_axis(low: float, high: float, wide: bool) -> dict:
    """The settings of an axis on which dots and lines keep clear of its ends."""
    if not wide:
        pad = 0.06 * (high - low) or 0.01 * high
        return {"type": "linear", "range": [low - pad, high + pad], "nticks": 5}
    low, high = low / 1.15, high * 1.15
    ticks = round_numbers(low, high)
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [short(tick) for tick in ticks],
    }


def _against(entry: Entry) -> str:
    return f"above {entry.cover.bound}" if entry.cover else "no bound covers it"


def explain_lines(bounds: Sequence[Bound]) -> str:
    """What the dashed lines say; nothing where there are none."""
    said = [
        f"no {'run' if bound.covers_preemption else 'run that keeps its KV cache'} can be left "
        f"of {bound.bound}"
        for bound in strongest(bounds)
    ]
    return f"Dashed: {', and '.join(said)}." if said else ""


def describe_gaps(entries: Sequence[Entry]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = ", ".join(f"{entry.label} {wording.gap(entry.gap)}" for entry in entries)
    return (
        f"Total latency of each policy, and how far it is above the certified bound: {described}."
    )
