"""Traces that plotly takes as they are.

It checks every property of a trace, one by one, and every value of a list of colours: for a chart
of two thousand bars that takes longer than all else. Ours are written by this project's own
functions; the tests let plotly check them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go


def with_traces(figure: go.Figure, traces: Sequence[dict[str, Any]]) -> go.Figure:
    """The figure with more traces, each a dictionary with its `type`, unchecked.

    Rows and columns of subplots are known by name in it, such as `x2`, and no longer by number.
    """
    data = [*(trace.to_plotly_json() for trace in figure.data), *traces]
    return go.Figure(data=data, layout=figure.layout.to_plotly_json(), _validate=False)
