"""Two parameters against each other, on the Capacity page: every cell a simulation.

Each cell is kept as soon as it is computed. The work is cut into portions, coarse cells first;
the page is drawn again after each, and what was done stays when the rest is cancelled.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress

import streamlit as st

from engine import Experiment, InputError, wording
from engine.capacity.rate import Capacity
from engine.errors import as_sentence
from engine.figures.heat_map import describe_heat_map, draw_heat_map
from engine.mode import current_mode
from engine.progress import Progress
from engine.saved.sweeps import fits, recall, remember, sweep_key
from engine.scale_out import where
from engine.sweeps.heat_map import Cell, HeatMap, Place, in_words, passes, run_cells
from engine.sweeps.parameters import Parameter, parameters_of
from engine.sweeps.reading import METRICS, PERCENTILES
from pages.parts import show
from pages.parts.capacity.controls import Planning, in_clock
from pages.parts.capacity.rates import is_affordable
from pages.parts.jobs import Job, finished, offer
from pages.parts.kept import database
from pages.parts.link import linked
from pages.parts.literal import literal
from pages.parts.sidebar.predictions import predicting
from pages.parts.store import store
from pages.parts.view import View

CHART = "heat-map"
SIDES = (10, 20, 30)
SIDE = 20
LARGE = 1.0  # seconds: a map that takes longer is kept for later visits


def tell_map(view: View, planning: Planning, capacities: Sequence[Capacity]) -> None:
    """The knobs to choose, the map as far as it is done, and the cell that was clicked.

    The usual range of the rate holds the largest rates that were found.
    """
    st.markdown("## Turn two knobs")
    choices = [choice for choice in view.choices if is_affordable(view, choice)]
    experiment = view.experiment.choosing(choices)
    parameters = parameters_of(experiment)
    if "rate" in parameters:
        borders = [float(f"{c.rate:.2g}") for c in capacities if c.rate is not None]
        parameters["rate"] = parameters["rate"].spanning(borders)
    if not choices or len(parameters) < 2:
        st.caption("There are not two things to turn here: pick a policy in the sidebar.")
        return
    heat_map = _ask_map(experiment, parameters, planning)
    try:
        _check(heat_map)
    except InputError as limit:
        st.info(literal(as_sentence(limit)))
        return
    label, metric = _ask_colours(heat_map)  # also before there is a map, or a link would lose them
    _recall(heat_map)
    jobs = _jobs(heat_map, where())
    if jobs[0].is_quick or jobs[0].is_done:  # the coarse cells: few of the finer ones mislead
        finished(jobs)
    cells = _cells(heat_map)
    if cells:
        _draw(view, heat_map, cells, label, metric)
    else:
        st.caption("Every cell is a simulation of every policy; coarse cells come first.")
    offer(jobs, f"Map {heat_map.up.title} against {heat_map.across.title}")


def _ask_map(
    experiment: Experiment, parameters: dict[str, Parameter], planning: Planning
) -> HeatMap:
    names = list(parameters)
    usual = ("rate" if "rate" in parameters else names[-1]), "memory"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        across = parameters[_pick("Across", "across", names, parameters, usual[0])]
        up = parameters[_pick("Up", "up", names, parameters, usual[1])]
        side = st.segmented_control(
            "Cells a side", SIDES, required=True, **linked("side", SIDE, int, options=SIDES)
        )
    with st.expander("Ranges", icon=":material/straighten:"):
        columns = across.values(side, *_ask_range(across))
        rows = up.values(side, *_ask_range(up))
    return HeatMap(experiment, across, up, tuple(columns), tuple(rows), planning.objective)


def _check(heat_map: HeatMap) -> None:
    """InputError where this server does not compute so large a map, whoever asked for it."""
    columns, rows = len(heat_map.columns), len(heat_map.rows)
    mode = current_mode()
    mode.check_cells(columns * rows)
    corners = [(column, row) for column in (0, columns - 1) for row in (0, rows - 1)]
    mode.check_requests(max(heat_map.at(corner).requests for corner in corners))


def _pick(
    label: str, name: str, names: list[str], parameters: dict[str, Parameter], usual: str
) -> str:
    return st.selectbox(
        label,
        names,
        format_func=lambda key: parameters[key].title,
        width=240,
        **linked(name, usual, options=names),
    )


def _ask_range(parameter: Parameter) -> tuple[float | None, float | None]:
    kind = int if parameter.whole else float
    low, high = kind(parameter.low), kind(parameter.high)
    ends = []
    both = zip(st.columns(2), ("from", "to"), parameter.usual, strict=True)
    for column, end, usual in both:
        ends.append(
            column.number_input(
                f"{parameter.title}: {end}",
                low,
                high,
                value=None,
                placeholder=f"{usual:g}",
                **linked(f"{end}_{parameter.name}", None, kind, low=low, high=high),
            )
        )
    return ends[0], ends[1]


def _key(heat_map: HeatMap) -> tuple[Hashable, ...]:
    """What the cells depend on; not the present values of what is varied."""
    axes = (heat_map.across.name, heat_map.up.name, heat_map.columns, heat_map.rows)
    return ("heat map", heat_map.at((0, 0)), *axes, heat_map.objective)


def _cells(heat_map: HeatMap) -> dict[Place, Cell]:
    """Those that are there."""
    shared = _key(heat_map)
    everywhere = [place for portion in passes(heat_map) for place in portion]
    kept = ((place, store().peek((*shared, place))) for place in everywhere)
    return {place: cell for place, cell in kept if cell is not None}


def _recall(heat_map: HeatMap) -> None:
    """Take over what another visit has computed of a large map."""
    if not _is_kept(heat_map):
        return
    shared = _key(heat_map)
    problem = store().get((*shared, "recalled"), lambda: _recalled(heat_map))
    if problem:
        st.caption(f"Maps are not kept for later visits: {literal(problem)}.")


def _recalled(heat_map: HeatMap) -> str:
    """Put the kept parts into the store; what went wrong, if anything."""
    shared = _key(heat_map)
    try:
        parts = recall(database(), sweep_key(heat_map))
    except InputError as problem:
        return str(problem)
    for number, cells in parts.items():
        if not fits(heat_map, number, cells):
            continue
        for place, cell in cells.items():
            store().put((*shared, place), cell)
        store().put((*shared, "portion", number), True)
    return ""


def _is_kept(heat_map: HeatMap) -> bool:
    """Whether it is large, and this server keeps what its visitors compute."""
    everywhere = [place for portion in passes(heat_map) for place in portion]
    return current_mode().is_shared and heat_map.seconds(everywhere) >= LARGE


def _jobs(heat_map: HeatMap, on: str) -> list[Job]:
    portions = passes(heat_map)
    return [
        _job(heat_map, number, len(portions), portion, on)
        for number, portion in enumerate(portions)
    ]


def _job(heat_map: HeatMap, number: int, of: int, portion: list[Place], on: str) -> Job:
    shared = _key(heat_map)

    def compute(progress: Progress) -> bool:
        missing = [place for place in portion if (*shared, place) not in store()]

        def step(share: float, done: str) -> None:
            progress(share, f"{done} cells")

        for place, cell in run_cells(heat_map, missing, on, step):
            store().put((*shared, place), cell)
        if _is_kept(heat_map):
            here = {place: cell for place, cell in _cells(heat_map).items() if place in portion}
            with suppress(InputError):  # the map is there; that it cannot be kept is told above
                remember(database(), sweep_key(heat_map), number, here)
        return True

    return Job(
        key=(*shared, "portion", number),
        title=f"part {number + 1} of {of} of the map",
        seconds=heat_map.seconds(portion),
        compute=compute,
    )


def _ask_colours(heat_map: HeatMap) -> tuple[str, str]:
    """Whose numbers, and which, are the colours: a label and a key of METRICS."""
    labels, titles = heat_map.labels, _titles(heat_map)
    usual = "svf" if "svf" in labels else labels[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.segmented_control(
            "Colours of", labels, required=True, **linked("mapped", usual, options=labels)
        )
        metric = st.selectbox(
            "Colour",
            titles,
            format_func=titles.__getitem__,
            width=280,
            **linked("metric", "ttft", options=titles),
        )
    return label, metric


def _titles(heat_map: HeatMap) -> dict[str, str]:
    percent = heat_map.objective.percent
    return {
        name: f"P{percent:g} {title}" if name in PERCENTILES else title
        for name, (title, _) in METRICS.items()
    }


def _draw(view: View, heat_map: HeatMap, cells: dict[Place, Cell], label: str, metric: str):
    st.markdown(in_words(heat_map, cells, label))
    chosen = _chosen(heat_map)
    show.figure(
        draw_heat_map(heat_map, cells, label, metric, chosen),
        describe_heat_map(heat_map, cells, label),
        CHART,
        on_select=_choose,
        selection_mode="points",
    )
    st.caption(
        f"Colours: {_titles(heat_map)[metric]} of {label}. Lines: where each policy's limits (or, "
        "without limits, its keeping up) end. Grey: overloaded, where times mean nothing; near "
        "that border a longer run decides, and hatched cells are too near for certainty. "
        f"{len(cells)} of {len(heat_map.columns) * len(heat_map.rows)} cells are done."
    )
    _open(view, heat_map, chosen)


def _choose() -> None:
    """Keep the cell that was clicked."""
    for point in st.session_state[CHART].selection.points:
        data = point.get("customdata")
        if isinstance(data, (list, tuple)) and len(data) == 6:
            st.session_state["column"], st.session_state["row"] = int(data[0]), int(data[1])


def _chosen(heat_map: HeatMap) -> Place | None:
    column, row = st.session_state.get("column"), st.session_state.get("row")
    if column is None or row is None:
        return None
    inside = column < len(heat_map.columns) and row < len(heat_map.rows)
    return (column, row) if inside else None


def _open(view: View, heat_map: HeatMap, chosen: Place | None) -> None:
    """A button that makes the chosen cell the scenario, and thereby the link."""
    if chosen is None:
        st.caption("Click a cell to open it as the scenario.")
        return
    column, row = chosen
    values = {heat_map.across: heat_map.columns[column], heat_map.up: heat_map.rows[row]}
    spelled = ", ".join(
        f"{parameter.title} {wording.number(value)}" for parameter, value in values.items()
    )
    st.button(
        f"Open this cell as the scenario: {spelled}",
        icon=":material/open_in_new:",
        on_click=_set,
        args=(view, heat_map, values),
    )


def _set(view: View, heat_map: HeatMap, values: dict[Parameter, float]) -> None:
    """Turn the sidebar's controls; the map keeps its ranges."""
    for parameter, value in values.items():
        name = in_clock(parameter.name, view) if parameter.name == "rate" else parameter.name
        kept = int(value) if parameter.whole else float(value)
        st.session_state.update(predicting(name, kept) or {name: kept})
    for parameter, ends in ((heat_map.across, heat_map.columns), (heat_map.up, heat_map.rows)):
        st.session_state[f"from_{parameter.name}"] = ends[0]
        st.session_state[f"to_{parameter.name}"] = ends[-1]
