"""The frame that all charts share: type that a projector shows, margins, where the legend is."""

from __future__ import annotations

import plotly.graph_objects as go

ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
BELOW = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0}


def lay_out(
    figure: go.Figure,
    height: int,
    legend: dict | None = None,
    top: int = 12,
    right: int = 12,
    **more,
) -> None:
    """Frame a figure.

    Parameters
    ----------
    height, top, right : pixels, the latter of margins
    legend : ABOVE, BELOW, another place, or None: there is none
    more : what else this chart has of plotly's layout, or has otherwise than the others
    """
    shared = {
        "height": height,
        "margin": {"t": top, "r": right, "b": 8, "l": 8},
        "font": {"size": 14},
        "hovermode": "closest",
        "dragmode": False,
        **({"legend": legend} if legend else {"showlegend": False}),
    }
    figure.update_layout({**shared, **more})
