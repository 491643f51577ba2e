"""What policies do along an axis of a study: one line a policy, with the band of its mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.figures.layout import BELOW, lay_out
from engine.figures.palette import BOUND_GREY, policy_style
from engine.figures.percent_axis import height, percent_axis
from engine.figures.ticks import round_numbers, short
from engine.uncertainty.axis import Axis
from engine.uncertainty.break_even import BreakEven
from engine.uncertainty.pooled import Band, Pooled

OPACITY = 0.15  # of a band
FLOOR = 0.2  # of a mean: the lower end of a band on a logarithmic axis


@dataclass(frozen=True)
class PooledNumber:
    """A number of a Line that can be drawn.

    Attributes
    ----------
    title : what users call it; `{unit}` stands for the clock's unit
    by_factor : whether its axis is logarithmic
    write : how a value is written
    """

    title: str
    by_factor: bool
    write: Callable[[float], str]


METRICS = {
    "latency": PooledNumber("mean latency ({unit})", True, wording.number),
    "preemptions": PooledNumber("preemptions", False, wording.number),
    "wasted": PooledNumber(
        "wasted tokens (computed again)", False, lambda v: wording.number(round(v))
    ),
    "gap": PooledNumber("gap to the clairvoyant bound", True, wording.gap),
}


def draw_uncertainty(
    pooled: Pooled,
    axis: Axis,
    metric: str,
    unit: str,
    breaks: list[BreakEven],
    present: float | None,
) -> go.Figure:
    """One metric of every policy along the axis.

    Parameters
    ----------
    breaks : where policies stop paying: marked in charts of the latency
    present : where the sidebar stands on this axis, if it does
    """
    figure = go.Figure()
    bands = {label: pooled.band(label, metric) for label in pooled.choices}
    for label, choice in pooled.choices.items():
        _add_band(figure, pooled, bands[label], choice.key, metric)
    for label, choice in pooled.choices.items():
        _add_line(figure, pooled, bands[label], label, choice.key, metric, unit)
    if present is not None:
        figure.add_vline(
            x=present, line={"color": BOUND_GREY, "width": 1, "dash": "dot"}, layer="below"
        )
    for break_even in breaks if metric == "latency" else ():
        if np.isfinite(break_even.at) and break_even.at > pooled.values[0]:
            _mark(figure, pooled, bands[break_even.rival].mean, break_even)
    figure.update_xaxes(title=axis.title, **_across(axis, pooled.values))
    figure.update_yaxes(**_up(bands, metric, unit), automargin=True)
    lay_out(figure, 440, legend=BELOW)
    return figure


def _heights(values: np.ndarray, metric: str) -> list[float]:
    return [height(value) if metric == "gap" else float(value) for value in values]


def _add_band(figure: go.Figure, pooled: Pooled, band: Band, policy: str, metric: str) -> None:
    if not np.nanmax(band.half, initial=0.0) > 0:
        return
    colour, _ = policy_style(policy)
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    low = band.low
    if METRICS[metric].by_factor:
        low = np.maximum(low, FLOOR * band.mean)
    figure.add_scatter(
        x=[*pooled.values, *pooled.values[::-1]],
        y=_heights(np.concatenate([band.high, low[::-1]]), metric),
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},{OPACITY})",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_line(figure, pooled, band: Band, label, policy, metric, unit) -> None:
    colour, dash = policy_style(policy)
    write = METRICS[metric].write
    overloaded = pooled.overloaded(label)
    several = len(pooled.draws) > 1
    figure.add_scatter(
        x=pooled.values,
        y=_heights(band.mean, metric),
        name=label,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2.5},
        marker={
            "size": 7,
            "symbol": ["circle-open" if over else "circle" for over in overloaded],
        },
        customdata=[
            [
                write(mean),
                f", 95 % of its mean ± {_written_half(half, metric)}" if several else "",
                "<br>overloaded: latencies grow with the horizon" if over else "",
            ]
            for mean, half, over in zip(band.mean, band.half, overloaded, strict=True)
        ],
        hovertemplate=f"at %{{x:.3g}}: {METRICS[metric].title.format(unit=unit)} "
        f"%{{customdata[0]}}%{{customdata[1]}}%{{customdata[2]}}<extra>{label}</extra>",
    )


def _written_half(half: float, metric: str) -> str:
    return wording.percent(half) if metric == "gap" else wording.number(float(f"{half:.3g}"))


def _mark(figure: go.Figure, pooled: Pooled, rival: np.ndarray, break_even: BreakEven) -> None:
    """A cross where a policy's line meets that of the best which uses no lengths."""
    figure.add_scatter(
        x=[break_even.at],
        y=[float(np.interp(break_even.at, pooled.values, rival))],
        mode="markers",
        marker={"symbol": "x-thin", "size": 14, "line": {"width": 3, "color": "#333333"}},
        hovertemplate=f"{break_even.label} stops paying at %{{x:.3g}}<extra></extra>",
        showlegend=False,
    )


def _across(axis: Axis, values: np.ndarray) -> dict:
    if not axis.by_factor:
        return {}
    ticks = round_numbers(values[0], values[-1])
    return {"type": "log", "tickvals": ticks, "ticktext": [short(tick) for tick in ticks]}


def _up(bands: dict[str, Band], metric: str, unit: str) -> dict:
    title = METRICS[metric].title.format(unit=unit)
    means = np.concatenate([band.mean for band in bands.values()])
    means = means[~np.isnan(means)]
    if metric == "gap" and len(means):
        return {**percent_axis(means), "title": f"{title} (%)"}
    if not METRICS[metric].by_factor or not len(means) or means.min() <= 0:
        return {"title": title, "rangemode": "tozero"}
    ticks = round_numbers(means.min() / 1.2, means.max() * 1.2)
    return {
        "title": title,
        "type": "log",
        "tickvals": ticks,
        "ticktext": [short(tick) for tick in ticks],
    }


def describe_uncertainty(pooled: Pooled, axis: Axis, metric: str, unit: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    write = METRICS[metric].write
    described = "; ".join(
        f"{label} from {write(means[0])} at {pooled.values[0]:g} to {write(means[-1])} at "
        f"{pooled.values[-1]:g}"
        for label in pooled.choices
        for means in [pooled.band(label, metric).mean]
    )
    return f"{METRICS[metric].title.format(unit=unit)} against {axis.title}: {described}."
