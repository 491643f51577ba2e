"""Cumulative distributions of a time, one line a policy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import LIMIT_GREY, policy_style
from engine.figures.unchecked import with_traces
from engine.wording import amount

POINTS = 1000  # quantiles a line; more cannot be seen


def draw_cdf(
    values: Mapping[str, np.ndarray],
    styles: Mapping[str, str],
    quantity: str,
    unit: str,
    log: bool = False,
    limit: float | None = None,
) -> go.Figure:
    """The share of requests (y, percent) with at most so much of `quantity` (x).

    Parameters
    ----------
    values : per line label the (n,) values; NaN is left out
    styles : per line label the policy whose colour and dash it has
    quantity, unit : what x is, such as "end-to-end latency" in "rounds"
    log : logarithmic x
    limit : an SLO to mark on x
    """
    traces = []
    # The first is the best and is drawn last, above the others.
    for rank, (label, sample) in reversed(list(enumerate(values.items()))):
        known = np.sort(sample[~np.isnan(sample)])
        if not len(known):
            continue
        share = np.linspace(0, 1, min(POINTS, len(known)) + 1)[1:]
        at = known[np.ceil(share * len(known) - 1e-9).astype(int) - 1]
        colour, dash = policy_style(styles[label])
        traces.append(
            {
                "type": "scatter",
                "x": np.append(at[0], at),
                "y": np.append(0.0, 100 * share),
                "name": label,
                "legendrank": rank,
                "mode": "lines",
                "line": {"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
                "hovertemplate": f"%{{y:.1f}} % of requests within<br>%{{x:,.4g}} {unit}"
                f"<extra>{label}</extra>",
            }
        )
    figure = with_traces(go.Figure(), traces)
    if limit is not None:
        figure.add_vline(
            x=limit,
            line={"color": LIMIT_GREY, "width": 2, "dash": "dash"},
            annotation={"text": f"SLO {amount(limit, unit)}", "yanchor": "bottom"},
            annotation_position="bottom right",
        )
    figure.update_xaxes(
        title=f"{quantity} ({unit})",
        type="log" if log else "linear",
        rangemode="normal" if log else "tozero",
    )
    figure.update_yaxes(title="share of requests (%)", range=[0, 101], ticksuffix=" %")
    lay_out(figure, 420, legend=ABOVE, top=40)
    return figure


def describe_cdf(values: Mapping[str, np.ndarray], quantity: str, unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    medians = {label: float(np.nanmedian(sample)) for label, sample in values.items()}
    described = ", ".join(f"{label} {amount(median, unit)}" for label, median in medians.items())
    return f"Cumulative distribution of {quantity}; medians: {described}."
