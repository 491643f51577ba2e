"""What each policy's gap is made of: one bar a policy, its parts as shares of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.evidence.losses import Loss
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import LOSS_COLOURS

SEEN = 0.005  # of a bar: what is less for every policy is not drawn
WRITTEN = 0.12  # of the bar: a part that is narrower has no room for its number
TEXT_COLOURS = {"ordering": "#ffffff", "idle memory": "#1a202c", "lost cache": "#1a202c"}


def draw_losses(losses: Sequence[Loss]) -> go.Figure:
    """Bars of 100 %, as gaps differ by orders of magnitude; the numbers in them add up to it."""
    figure = go.Figure()
    for part, colour in LOSS_COLOURS.items():
        if not any(loss.share(part) >= SEEN for loss in losses):
            continue
        figure.add_bar(
            orientation="h",
            name=part,
            y=[f"{loss.label}  {wording.gap(loss.gap)}" for loss in losses],
            x=[100 * loss.share(part) for loss in losses],
            marker_color=colour,
            text=[_written(loss, part) for loss in losses],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": TEXT_COLOURS[part]},
            customdata=[_told(loss, part) for loss in losses],
            hovertemplate="%{customdata[0]}: %{customdata[1]} of its gap to %{customdata[2]}<br>"
            f"is {part}: %{{customdata[3]}} rounds, %{{customdata[4]}} of the bound<extra></extra>",
        )
    figure.update_xaxes(title="share of the gap (%)", range=[0, 100])
    figure.update_yaxes(autorange="reversed", automargin=True)
    lay_out(
        figure,
        150 + 40 * len(losses),
        legend={**ABOVE, "y": 1.0, "traceorder": "normal"},
        top=40,
        right=16,
        barmode="stack",
        uniformtext={"minsize": 11, "mode": "hide"},
        bargap=0.35,
    )
    return figure


def _points(loss: Loss, part: str) -> str:
    """The part in per cent of the bound."""
    return wording.percent(loss.parts[part] / loss.value)


def _written(loss: Loss, part: str) -> str:
    return f"+{_points(loss, part)}" if loss.share(part) >= WRITTEN else ""


def _told(loss: Loss, part: str) -> list[str]:
    return [
        loss.label,
        wording.percent(loss.share(part)),
        loss.bound,
        wording.total(loss.parts[part]),
        _points(loss, part),
    ]


def describe_losses(losses: Sequence[Loss]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = "; ".join(
        f"{loss.label} "
        + ", ".join(f"{wording.percent(loss.share(part))} {part}" for part in loss.parts)
        for loss in losses
    )
    return f"What each policy's gap is made of: {described}."
