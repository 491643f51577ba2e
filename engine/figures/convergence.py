"""A bound rising while it is sought."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from engine import wording
from engine.bound import Bound
from engine.evidence.convergence import Climb
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import BOUND_GREY, DOT, INDIGO, SOLID, TEAL

LINES = ((INDIGO, SOLID), (TEAL, DOT))  # for runs that keep their cache, for every run


def draw_convergence(climbs: Sequence[Climb], relaxations: Sequence[Bound]) -> go.Figure:
    """Each bound's value against the seconds it took, the LP's own value dashed where known."""
    figure = go.Figure()
    for number, climb in enumerate(climbs):
        colour, dash = LINES[number % len(LINES)]
        figure.add_scatter(
            x=climb.seconds,
            y=climb.value,
            name=climb.bound,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
            marker={"size": 5},
            customdata=[
                [wording.count(value), f"{100 * gained:.3f}"]
                for value, gained in zip(climb.value, climb.gained, strict=True)
            ],
            hovertemplate="after %{x:.2f} s: %{customdata[0]} "
            f"{climb.unit}<br>%{{customdata[1]}} % above its start<extra>{climb.bound}</extra>",
        )
    for bound in relaxations:
        figure.add_hline(
            y=bound.value,
            line={"color": BOUND_GREY, "dash": "dash", "width": 2},
            annotation={
                "text": bound.bound,
                "font": {"color": BOUND_GREY},
                "xanchor": "right",
                "yanchor": "top",
            },
        )
    figure.update_xaxes(title="time spent (s)", rangemode="tozero")
    figure.update_yaxes(title=f"bound on total latency ({climbs[0].unit})", automargin=True)
    lay_out(figure, 380, legend=ABOVE, top=40)
    return figure


def describe_convergence(climbs: Sequence[Climb]) -> str:
    """The chart in one sentence, for those who cannot see it."""
    described = "; ".join(
        f"{climb.bound} from {wording.count(climb.value[0])} to {wording.count(climb.value[-1])} "
        f"{climb.unit} in {climb.seconds[-1]:.1f} s"
        for climb in climbs
    )
    return f"How the bounds rose while they were sought: {described}."
