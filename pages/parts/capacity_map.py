"""Two knobs against each other, on the Capacity page: every cell a simulation.

Each cell is kept as soon as it is computed. The work is cut into portions, coarse cells first;
the page is drawn again after each, and what was done stays when the rest is cancelled.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress

import streamlit as st

from engine import InputError, Scenario, wording
from engine.capacity.rate import Capacity
from engine.figures.heat_map import describe_heat_map, draw_heat_map
from engine.progress import Progress
from engine.saved.sweeps import fits, recall, remember, sweep_key
from engine.sweeps.heat_map import Cell, HeatMap, Place, in_words, passes, run_cells
from engine.sweeps.knobs import Experiment, Knob, knobs_of
from engine.sweeps.reading import METRICS, PERCENTILES
from pages.parts import show
from pages.parts.capacity_controls import Question, in_clock
from pages.parts.capacity_rates import is_affordable
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import linked
from pages.parts.prediction_controls import predicting
from pages.parts.saved_store import keeping
from pages.parts.store import store
from pages.parts.view import View

CHART = "heat-map"
SIDES = (10, 20, 30)
SIDE = 20
LARGE = 1.0  # seconds: a map that takes longer is kept for later visits


def tell_map(view: View, question: Question, found: Sequence[Capacity]) -> None:
    """The knobs to choose, the map as far as it is done, and the cell that was clicked.

    The usual range of the rate holds the largest rates that were found.
    """
    st.markdown("## Turn two knobs")
    choices = [choice for choice in view.choices if is_affordable(view, choice)]
    experiment = Experiment(
        view.scenario or view.workload,
        view.memory,
        tuple((choice.key, choice.params) for choice in choices),
        view.clock,
        view.topology,
    )
    knobs = knobs_of(experiment)
    if "rate" in knobs:
        borders = [float(f"{one.rate:.2g}") for one in found if one.rate is not None]
        knobs["rate"] = knobs["rate"].spanning(borders)
    if not choices or len(knobs) < 2:
        st.caption("There are not two things to turn here: pick a policy in the sidebar.")
        return
    heat_map = _ask_map(experiment, knobs, question)
    label, metric = _ask_colours(heat_map)  # also before there is a map, or a link would lose them
    _recall(heat_map)
    jobs = _jobs(heat_map, question.on)
    finished(jobs)
    cells = _cells(heat_map)
    if cells:
        _draw(view, heat_map, cells, label, metric)
    else:
        st.caption("Every cell is a simulation of every policy; coarse cells come first.")
    offer(jobs, f"Map {heat_map.up.title} against {heat_map.across.title}")


def _ask_map(experiment: Experiment, knobs: dict[str, Knob], question: Question) -> HeatMap:
    names = list(knobs)
    usual = ("rate" if "rate" in knobs else names[-1]), "memory"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        across = knobs[_pick("Across", "across", names, knobs, usual[0])]
        up = knobs[_pick("Up", "up", names, knobs, usual[1])]
        side = st.segmented_control(
            "Cells a side", SIDES, required=True, **linked("side", SIDE, int, options=SIDES)
        )
    with st.expander("Ranges", icon=":material/straighten:"):
        columns = across.values(side, *_ask_range(across))
        rows = up.values(side, *_ask_range(up))
    return HeatMap(experiment, across, up, tuple(columns), tuple(rows), question.objective)


def _pick(label: str, name: str, names: list[str], knobs: dict[str, Knob], usual: str) -> str:
    return st.selectbox(
        label,
        names,
        format_func=lambda key: knobs[key].title,
        width=240,
        **linked(name, usual, options=names),
    )


def _ask_range(knob: Knob) -> tuple[float | None, float | None]:
    kind = int if knob.whole else float
    low, high = kind(knob.low), kind(knob.high)
    ends = []
    both = zip(st.columns(2), ("from", "to"), knob.usual, strict=True)
    for column, end, usual in both:
        ends.append(
            column.number_input(
                f"{knob.title}: {end}",
                low,
                high,
                value=None,
                placeholder=f"{usual:g}",
                **linked(f"{end}_{knob.name}", None, kind, low=low, high=high),
            )
        )
    return ends[0], ends[1]


def _key(heat_map: HeatMap, place: Place) -> Hashable:
    """What a cell depends on; not where the knobs that are turned stand in the sidebar."""
    first = heat_map.at((0, 0))
    source = first.source if isinstance(first.source, Scenario) else first.workload.digest
    turned = (heat_map.across.name, heat_map.up.name, heat_map.columns, heat_map.rows)
    stands = (source, first.memory, first.picks, first.clock, first.topology)
    return ("heat map", *stands, *turned, heat_map.objective, place)


def _cells(heat_map: HeatMap) -> dict[Place, Cell]:
    """Those that are there."""
    *shared, _ = _key(heat_map, (0, 0))
    everywhere = [place for portion in passes(heat_map) for place in portion]
    kept = {place: store().peek((*shared, place)) for place in everywhere}
    return {place: found for place, found in kept.items() if found is not None}


def _recall(heat_map: HeatMap) -> None:
    """Take over what another visit has computed of a large map."""
    if not _is_large(heat_map):
        return
    *shared, _ = _key(heat_map, (0, 0))
    problem = store().get((*shared, "recalled"), lambda: _recalled(heat_map))
    if problem:
        st.caption(f"Maps are not kept for later visits: {problem}.")


def _recalled(heat_map: HeatMap) -> str:
    """Put the kept parts into the store; what went wrong, if anything."""
    *shared, _ = _key(heat_map, (0, 0))
    try:
        parts = recall(keeping(), sweep_key(heat_map))
    except InputError as problem:
        return str(problem)
    for number, found in parts.items():
        if not fits(heat_map, number, found):
            continue
        for place, told in found.items():
            store().get((*shared, place), lambda told=told: told)
        store().get((*shared, "portion", number), lambda: True)
    return ""


def _is_large(heat_map: HeatMap) -> bool:
    return heat_map.seconds([place for portion in passes(heat_map) for place in portion]) >= LARGE


def _jobs(heat_map: HeatMap, on: str) -> list[Job]:
    portions = passes(heat_map)
    return [
        _job(heat_map, number, len(portions), portion, on)
        for number, portion in enumerate(portions)
    ]


def _job(heat_map: HeatMap, number: int, of: int, portion: list[Place], on: str) -> Job:
    *shared, _ = _key(heat_map, (0, 0))

    def compute(progress: Progress) -> bool:
        missing = [place for place in portion if (*shared, place) not in store()]

        def step(share: float, told: str) -> None:
            progress(share, f"{told} cells")

        for place, found in run_cells(heat_map, missing, on, step):
            store().get((*shared, place), lambda found=found: found)
        if _is_large(heat_map):
            here = {place: store().peek((*shared, place)) for place in portion}
            with suppress(InputError):  # the map is there; that it cannot be kept is told above
                remember(keeping(), sweep_key(heat_map), number, here)
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
            format_func=titles.get,
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
    place = st.session_state.get("column"), st.session_state.get("row")
    inside = None not in place and (
        place[0] < len(heat_map.columns) and place[1] < len(heat_map.rows)
    )
    return place if inside else None


def _open(view: View, heat_map: HeatMap, chosen: Place | None) -> None:
    """A button that makes the chosen cell the scenario, and thereby the link."""
    if chosen is None:
        st.caption("Click a cell to open it as the scenario.")
        return
    column, row = chosen
    values = {heat_map.across: heat_map.columns[column], heat_map.up: heat_map.rows[row]}
    told = ", ".join(f"{knob.title} {wording.number(value)}" for knob, value in values.items())
    st.button(
        f"Open this cell as the scenario: {told}",
        icon=":material/open_in_new:",
        on_click=_set,
        args=(view, heat_map, values),
    )


def _set(view: View, heat_map: HeatMap, values: dict[Knob, float]) -> None:
    """Turn the sidebar's controls; the map keeps its ranges."""
    for knob, value in values.items():
        name = in_clock(knob.name, view) if knob.name == "rate" else knob.name
        kept = int(value) if knob.whole else float(value)
        st.session_state.update(predicting(name, kept) or {name: kept})
    for knob, ends in ((heat_map.across, heat_map.columns), (heat_map.up, heat_map.rows)):
        st.session_state[f"from_{knob.name}"] = ends[0]
        st.session_state[f"to_{knob.name}"] = ends[-1]
