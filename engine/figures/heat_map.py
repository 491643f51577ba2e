"""Two knobs against each other: a policy's numbers as colours, every policy's limit as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from engine import wording
from engine.figures.layout import ABOVE, lay_out
from engine.figures.palette import LIMIT_GREY, policy_style
from engine.figures.ticks import round_numbers, short
from engine.sweeps.heat_map import Cell, HeatMap, Place, doubtful_places, grid, standing_for
from engine.sweeps.reading import METRICS, VERDICTS, CellReading

OVERLOAD_GREY = "#c9c9c9"
DOUBT = "#d55e00"
FAR = 2.0  # times the limit: what is farther looks the same to the line at 1
TICKS = 6  # labels an axis, about
LINE_AT = {"start": 1, "end": 1, "size": 1, "coloring": "none", "showlabels": False}
VERDICT_COLOURS = ("#f4f1e8", "#f4f1e8", "#f4f1e8", "#e8e4a0", "#8a8678", "#3b3f6e")
TIMES = ("ttft", "tpot", "latency")
SHARES = ("attainment", "set_aside")


def draw_heat_map(
    heat_map: HeatMap,
    cells: Mapping[Place, Cell],
    label: str,
    metric: str,
    chosen: Place | None = None,
) -> go.Figure:
    """The metric of one policy as colours; on the safe side of a line its policy is in limits.

    Times at overload mean nothing and are left grey. Each cell has an invisible marker that
    tells its numbers and can be clicked: its customdata begins with column and row.

    Parameters
    ----------
    metric : a key of METRICS
    chosen : a cell to frame
    """
    figure = go.Figure()
    _add_colours(figure, heat_map, cells, label, metric)
    for choice in heat_map.experiment.choices:
        is_chosen = choice.label == label
        _add_limit(figure, heat_map, cells, choice.label, choice.key, is_chosen)
    _add_doubt(figure, doubtful_places(heat_map, cells, label))
    _add_markers(figure, heat_map, cells, label, metric)
    if chosen is not None:
        column, row = chosen
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": LIMIT_GREY, "width": 3},
        )  # fmt: skip
    _add_present(figure, heat_map)
    figure.update_xaxes(title=heat_map.across.title, **_axis(heat_map.columns))
    figure.update_yaxes(title=heat_map.up.title, automargin=True, **_axis(heat_map.rows))
    lay_out(
        figure,
        520,
        legend=ABOVE,
        top=40,
        right=8,
        clickmode="event+select",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return figure


def _axis(values: Sequence[float]) -> dict:
    step = max(1, round(len(values) / TICKS))
    at = list(range(0, len(values), step))
    return {
        "tickvals": at,
        "ticktext": [short(values[k]) for k in at],
        "range": [-0.5, len(values) - 0.5],
        "showgrid": False,
        "zeroline": False,
    }


def _bar(**ticks) -> dict:
    """A narrow scale, which leaves a phone some room for the map."""
    return {"thickness": 12, "xpad": 4, **ticks}


def _add_colours(figure: go.Figure, heat_map, cells, label: str, metric: str) -> None:
    _, value = METRICS[metric]
    z = grid(heat_map, cells, label, value)
    if metric in TIMES:
        over = grid(heat_map, cells, label, lambda reading: float(reading.verdict == "overloaded"))
        _add_grey(figure, over)
        z = np.where(over == 1, np.nan, z)
    if metric == "verdict":
        figure.add_heatmap(z=z, **_verdict_scale(), hoverinfo="skip")
        return
    if metric in SHARES:
        bar = _bar(tickformat=".0%")
        scale = "Cividis" if metric == "attainment" else "Cividis_r"
        figure.add_heatmap(z=z, zmin=0, zmax=1, colorscale=scale, colorbar=bar, hoverinfo="skip")
        return
    figure.add_heatmap(**_logarithmic(z), colorscale="Cividis_r", hoverinfo="skip")


def _add_grey(figure: go.Figure, over: np.ndarray) -> None:
    figure.add_heatmap(
        z=np.where(over == 1, 1.0, np.nan),
        colorscale=[[0, OVERLOAD_GREY], [1, OVERLOAD_GREY]],
        showscale=False,
        hoverinfo="skip",
    )


def _verdict_scale() -> dict:
    """One flat colour a verdict, the likely ones named beside the scale."""
    n = len(VERDICTS)
    scale = []
    for number, colour in enumerate(VERDICT_COLOURS):
        scale += [[number / n, colour], [(number + 1) / n, colour]]
    bar = _bar(tickvals=list(range(3, n)), ticktext=list(VERDICTS[3:]))
    return {"zmin": -0.5, "zmax": n - 0.5, "colorscale": scale, "colorbar": bar}


def _logarithmic(z: np.ndarray) -> dict:
    """Positive values by their logarithm, with round numbers at the scale; else as they are."""
    known = z[np.isfinite(z)]
    if len(known) == 0 or known.min() <= 0 or known.max() < 2 * known.min():
        return {"z": z, "colorbar": _bar()}
    ticks = round_numbers(known.min(), known.max())
    bar = _bar(tickvals=np.log10(ticks).tolist(), ticktext=[short(tick) for tick in ticks])
    return {"z": np.log10(z), "colorbar": bar}


def _add_limit(figure: go.Figure, heat_map, cells, name: str, key: str, is_shown: bool) -> None:
    """Where the objective turns from met to missed."""
    z = grid(heat_map, cells, name, lambda reading: min(FAR, reading.excess))
    z = np.where(np.isnan(z), FAR, z) if cells else z
    if not (np.nanmin(z, initial=FAR) <= 1 < np.nanmax(z, initial=0)):
        return
    colour, dash = policy_style(key)
    figure.add_contour(
        z=z,
        contours=LINE_AT,
        line={"color": colour, "dash": dash, "width": 4 if is_shown else 2.5, "smoothing": 0},
        showscale=False,
        showlegend=True,
        name=name,
        hoverinfo="skip",
    )


def _add_doubt(figure: go.Figure, places: Sequence[Place]) -> None:
    """Hatch the cells in which a longer run might be overloaded."""
    if places:
        figure.add_scatter(
            x=[column for column, _ in places], y=[row for _, row in places], mode="markers",
            name="not certain", hoverinfo="skip",
            marker={"symbol": "line-ne", "size": 11, "line": {"width": 2, "color": DOUBT}},
        )  # fmt: skip


def _add_markers(figure: go.Figure, heat_map, cells, label: str, metric: str) -> None:
    places = [
        (column, row)
        for row in range(len(heat_map.rows))
        for column in range(len(heat_map.columns))
        if standing_for(cells, (column, row)) is not None
    ]
    readings = [cells[standing_for(cells, place)][label] for place in places]
    invisible = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=[column for column, _ in places],
        y=[row for _, row in places],
        mode="markers",
        marker={"symbol": "square", "size": 18, "opacity": 0},
        selected=invisible,
        unselected=invisible,
        showlegend=False,
        customdata=[
            [*place, *_values(heat_map, place), _written(reading, metric), _state(reading)]
            for place, reading in zip(places, readings, strict=True)
        ],
        hovertemplate=f"{heat_map.across.title} %{{customdata[2]}}<br>"
        f"{heat_map.up.title} %{{customdata[3]}}<br>%{{customdata[4]}}<br>%{{customdata[5]}}"
        f"<extra>{label}</extra>",
    )


def _values(heat_map: HeatMap, place: Place) -> list[str]:
    column, row = place
    return [wording.number(heat_map.columns[column]), wording.number(heat_map.rows[row])]


def _written(reading: CellReading | None, metric: str) -> str:
    if reading is None:
        return "cannot run here"
    title, value = METRICS[metric]
    if metric == "verdict":
        return reading.verdict
    if metric in SHARES:
        return f"{title} {wording.percent(value(reading))}"
    return f"{title} {wording.number(value(reading))}"


def _state(reading: CellReading | None) -> str:
    if reading is None:
        return ""
    doubt = "" if reading.certain else ", not certain: too near the border"
    aside = f", {wording.percent(reading.set_aside_share)} set aside" if reading.set_aside else ""
    limits = "within" if reading.is_met else "beyond"
    return f"{reading.verdict}, {limits} the limits{doubt}{aside}"


def _add_present(figure: go.Figure, heat_map: HeatMap) -> None:
    """A cross where the sidebar stands, where the map has it."""
    at = [
        float(np.interp(parameter.present, values, range(len(values)), left=np.nan, right=np.nan))
        for parameter, values in ((heat_map.across, heat_map.columns), (heat_map.up, heat_map.rows))
    ]
    if not any(np.isnan(at)):
        figure.add_scatter(
            x=at[:1], y=at[1:], mode="markers", name="now", hoverinfo="skip",
            marker={"symbol": "x-thin", "size": 14, "line": {"width": 3, "color": LIMIT_GREY}},
        )  # fmt: skip


def describe_heat_map(heat_map: HeatMap, cells: Mapping[Place, Cell], label: str) -> str:
    """The chart in one sentence, for those who cannot see it."""
    readings = (cell[label] for cell in cells.values())
    met = sum(reading is not None and reading.is_met for reading in readings)
    return (
        f"{heat_map.up.title} against {heat_map.across.title}: {label} meets its limits in {met} "
        f"of {len(cells)} cells that are done."
    )
