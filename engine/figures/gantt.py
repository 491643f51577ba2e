"""Memory over time above, requests in memory below, on one time axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from engine.figures.layout import ABOVE, lay_out
from engine.figures.literal import literal
from engine.figures.palette import MEMORY_RED, WAIT_GREY, class_colour
from engine.figures.unchecked import with_traces
from engine.measure.timeline import density, memory_stack, residencies_within, slots
from engine.simulate.run import Run
from engine.wording import count, counted, lasting

MOST_BARS = 2500
LABELLED_BARS = 40
OUTLINED_BARS = 200


def draw_gantt(
    run: Run,
    window: tuple[int, int] | None = None,
    packed: bool = False,
    pinned: int | None = None,
    at: int | None = None,
) -> go.Figure:
    """The memory curve against M and, beneath, every residency in memory as a bar.

    Parameters
    ----------
    run : the run
    window : show only these rounds
    packed : put bars into the lowest free slot; otherwise one line a request, by first start
    pinned : index of the request to outline
    at : a round to mark on both charts
    """
    shown = residencies_within(run, window)
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.42, 0.58]
    )
    _add_memory(figure, run, window)
    bars: list[dict[str, Any]] = []
    if len(shown) > MOST_BARS:
        _add_density(figure, run, window)
    else:
        bars = _bars(figure, run, shown, packed, pinned)
    if at is not None:
        figure.add_vline(
            x=float(run.ends(np.array(at))),
            line={"color": "#888", "width": 1, "dash": "dot"},
            row="all",
            col=1,
            exclude_empty_subplots=False,  # the bars come last
        )
    figure.update_xaxes(title=_axis(run), row=2, col=1)
    figure.update_xaxes(minallowed=0, maxallowed=float(run.finished_at.max()))
    if window:
        figure.update_xaxes(
            range=[float(run.begins(np.array(window[0]))), float(run.ends(np.array(window[1])))]
        )
    lay_out(
        figure,
        720,
        legend=ABOVE,
        top=40,
        barmode="overlay",
        uniformtext={"minsize": 9, "mode": "hide"},
        dragmode="pan",
        uirevision=f"{run.policy} {window} {packed}",  # a pin leaves the zoom as it is
    )
    return with_traces(figure, bars)


def _axis(run: Run) -> str:
    """What the time axis counts."""
    return "round" if run.timetable is None else "time (s)"


def _add_memory(figure: go.Figure, run: Run, window: tuple[int, int] | None) -> None:
    stack = memory_stack(run, window)
    below = np.zeros(len(stack.time), np.int64)
    for number, name in enumerate(map(literal, run.workload.classes)):
        figure.add_scatter(
            x=stack.time,
            y=below + stack.by_class[number],
            customdata=stack.by_class[number],
            name=f"{name} requests",
            legendgroup=name,
            mode="lines",
            line={"width": 0.5, "color": class_colour(number)},
            fillcolor=class_colour(number),
            fill="tozeroy" if number == 0 else "tonexty",
            hovertemplate=f"{_axis(run)} %{{x:,}}<br>{name}: %{{customdata:,}} tokens"
            "<br>up to here: %{y:,} tokens<extra></extra>",
            row=1,
            col=1,
        )
        below = below + stack.by_class[number]
    figure.add_hline(
        y=run.memory,
        line={"color": MEMORY_RED, "width": 2},
        annotation={
            "text": f"M = {count(run.memory)} tokens",
            "font": {"color": MEMORY_RED},
            "yanchor": "bottom",
        },
        annotation_position="top right",
        row=1,
        col=1,
    )
    figure.update_yaxes(
        title="tokens in memory", range=[0, 1.12 * run.memory], fixedrange=True, row=1, col=1
    )


def _bars(
    figure: go.Figure, run: Run, shown: np.ndarray, packed: bool, pinned: int | None
) -> list[dict[str, Any]]:
    """A trace a class; what stands behind the bars is drawn into the figure."""
    residencies, workload = run.residencies, run.workload
    request = residencies.request[shown]
    begin, end = residencies.begin[shown], residencies.end[shown]
    begin_at, end_at = run.begins(begin), run.ends(end)
    if packed:
        line = slots(begin, end)
        title = "slot"
    else:
        first_residencies = request[np.sort(np.unique(request, return_index=True)[1])]
        place = np.empty(len(workload), np.int64)
        place[first_residencies] = np.arange(len(first_residencies))
        line = place[request]
        title = "request, by start"
        if len(shown) <= OUTLINED_BARS:
            _add_waits(figure, run, request, begin, line)
    labelled = len(shown) <= LABELLED_BARS
    outline = 0.5 if len(shown) <= OUTLINED_BARS else 0
    bars = []
    for number, name in enumerate(map(literal, workload.classes)):
        of_class = workload.class_of[request] == number
        if not of_class.any():
            continue
        who = request[of_class]
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "base": begin_at[of_class].tolist(),
                "x": (end_at - begin_at)[of_class],
                "y": line[of_class],
                "width": 0.86 if outline else 1,
                "name": name,
                "legendgroup": name,
                "showlegend": False,
                "marker": {"color": class_colour(number), "line": _outlines(who, pinned, outline)},
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "customdata": np.stack(
                    [
                        who,
                        workload.row[who],
                        workload.prompt[who],
                        workload.output[who],
                        workload.arrival[who],
                        begin_at[of_class],
                        end_at[of_class],
                    ],
                    axis=1,
                ).tolist(),  # typed arrays come back from a click as dictionaries
                "hovertemplate": "request #%{customdata[1]:.0f} (" + name + ")<br>"
                "prompt %{customdata[2]:,.0f} + output %{customdata[3]:,.0f} tokens<br>"
                "arrived %{customdata[4]:,.2~f}, in memory %{customdata[5]:,.2~f} to "
                "%{customdata[6]:,.2~f}<extra></extra>",
                "xaxis": "x2",
                "yaxis": "y2",
                **({"text": [f"#{row}" for row in workload.row[who]]} if labelled else {}),
            }
        )
    figure.update_yaxes(
        title=title,
        autorange="reversed",
        showgrid=False,
        showticklabels=False,
        fixedrange=len(shown) <= OUTLINED_BARS,
        row=2,
        col=1,
    )
    return bars


def _outlines(who: np.ndarray, pinned: int | None, width: float) -> dict[str, Any]:
    """A line around each bar; one that is pinned has its own."""
    if not (who == pinned).any():
        return {"color": "rgba(255,255,255,0.6)", "width": width}
    return {
        "color": [MEMORY_RED if i == pinned else "rgba(255,255,255,0.6)" for i in who],
        "width": [3 if i == pinned else width for i in who],
    }


def _add_waits(
    figure: go.Figure, run: Run, request: np.ndarray, begin: np.ndarray, line: np.ndarray
) -> None:
    """A thin grey line to each residency, from the arrival or from the end of the one before."""
    residencies = run.residencies
    since = run.workload.arrival[request]
    again = begin > run.start[request]
    for k in np.flatnonzero(again):
        earlier = (residencies.request == request[k]) & (residencies.end <= begin[k])
        since[k] = run.ends(residencies.end[earlier].max())
    begin = run.begins(begin)
    gap = np.full(len(request), np.nan)
    figure.add_scatter(
        x=np.stack([since, begin, gap], axis=1).ravel(),
        y=np.stack([line, line, gap], axis=1).ravel(),
        mode="lines",
        line={"width": 1.5, "color": WAIT_GREY},
        name="waiting",
        hoverinfo="skip",
        row=2,
        col=1,
    )


def _add_density(figure: go.Figure, run: Run, window: tuple[int, int] | None) -> None:
    cells = density(run, window)
    middles = np.sqrt(cells.size_edges[:-1] * cells.size_edges[1:])
    figure.add_heatmap(
        x=cells.time,
        y=middles,
        z=np.where(cells.tokens > 0, cells.tokens, np.nan),
        customdata=cells.requests,
        colorscale="Blues",
        colorbar={"title": "tokens", "len": 0.5, "y": 0.25, "thickness": 12},
        hovertemplate=f"{_axis(run)} %{{x:,}}<br>requests of about %{{y:,.0f}} tokens<br>"
        "%{customdata:,} of them hold %{z:,} tokens<extra></extra>",
        row=2,
        col=1,
    )
    figure.update_yaxes(
        title="request size (prompt + output tokens)", type="log", dtick=1, row=2, col=1
    )


def describe_gantt(run: Run) -> str:
    """The chart in one sentence, for those who cannot see it."""
    stack = memory_stack(run)
    span = lasting(float(run.finished_at.max()), run.unit)
    return (
        f"Memory in use over {span} against M = {count(run.memory)} "
        f"tokens (peak {count(stack.total.max())}), and the "
        f"{counted(len(run.workload), 'request')} in memory below it."
    )
