"""Each cell of a map is the experiment that it says; a map that was stopped is only coarse."""

from dataclasses import replace

import numpy as np
import pytest

from engine import (
    Choice,
    Deployment,
    Experiment,
    InputError,
    Scenario,
    Topology,
    find_policy,
    generate,
)
from engine.capacity.carried import verdict_of_law
from engine.capacity.objective import Objective
from engine.figures.heat_map import describe_heat_map, draw_heat_map
from engine.machine.hardware import presets
from engine.measure.overload import verdict
from engine.measure.slo import Slo
from engine.sweeps.heat_map import HeatMap, grid, in_words, passes, run_cells, standing_for
from engine.sweeps.parameters import find_parameter, parameters_of
from engine.sweeps.reading import METRICS, read_all, reading

CLOCK = presets()["llama-2-70b-a100-tp4"].clock
CHOICES = (Choice("svf"), Choice.of("vllm", {"watermark": 0.05}))
OBJECTIVE = Objective(Slo(ttft=10))
SCENARIO = Scenario(n=200, arrivals="poisson", rate=1.6)


def experiment(source=SCENARIO):
    return Experiment(source, Deployment(16_492, CLOCK), CHOICES)


def heat_map(across="rate", up="memory", side=6, objective=OBJECTIVE, of=None):
    stands = of or experiment()
    x, y = find_parameter(stands, across), find_parameter(stands, up)
    return HeatMap(stands, x, y, tuple(x.values(side)), tuple(y.values(side)), objective)


def all_cells(of):
    return dict(run_cells(of, [place for portion in passes(of) for place in portion]))


@pytest.fixture(scope="module")
def small():
    return heat_map()


@pytest.fixture(scope="module")
def cells(small):
    return all_cells(small)


def test_cells_equal_direct_runs(small, cells):
    """Every number of every cell, against a run set up by hand."""
    for (column, row), found in cells.items():
        rate, memory = small.columns[column], small.rows[row]
        workload = generate(Scenario(n=200, arrivals="poisson", rate=rate))
        for choice in CHOICES:
            policy, params = choice.policy, choice.values
            run = policy.run(workload, memory, clock=CLOCK, **params)
            label = "svf" if choice.key == "svf" else "vllm watermark=0.05"
            lasting = verdict_of_law(
                run, Scenario(n=200, arrivals="poisson", rate=rate), Deployment(memory, CLOCK)
            )
            assert found[label] == reading(run, OBJECTIVE, lasting)
            assert found[label].mean_latency == run.latency.mean()
            met = lasting.keeps_up and OBJECTIVE.excess(run) <= 1
            assert found[label].is_met == met


@pytest.mark.parametrize("source", ["scenario", "requests"])
def test_near_the_border_a_longer_run_decides(source):
    """2,000 requests at 2.2 a second look carried; the law of them shows the overload."""
    scenario = Scenario(n=2000, arrivals="poisson", rate=2.2)
    asked = scenario if source == "scenario" else generate(scenario)
    short = find_policy("vllm").run(generate(scenario), 16_492, clock=CLOCK)
    assert verdict(short).kind != "overloaded"
    assert not verdict(short).is_certain
    (found,) = read_all(
        Experiment(asked, Deployment(16_492, CLOCK), (Choice("vllm"),)), Objective()
    )
    assert found.verdict == "overloaded"
    assert not found.is_met
    assert found.certain
    assert found.mean_latency == short.latency.mean()


def test_what_no_run_can_tell_is_hatched(small, cells):
    """Cells that no run decides are marked, counted and told."""
    doubtful = {
        place: {
            name: replace(told, certain=place != (0, 0), verdict="saturated")
            for name, told in found.items()
        }
        for place, found in cells.items()
    }
    figure = draw_heat_map(small, doubtful, "svf", "ttft")
    (hatch,) = [trace for trace in figure.data if trace.name == "not certain"]
    assert (list(hatch.x), list(hatch.y)) == ([0], [0])
    assert "(1 is too near the border to be certain)" in in_words(small, doubtful, "svf")
    certain = {(1, 1): {name: replace(told, certain=True) for name, told in cells[1, 1].items()}}
    assert "certain" not in in_words(small, certain, "svf")


@pytest.mark.parametrize(
    ("name", "value", "by_hand"),
    [
        ("share", 30, lambda: (generate(Scenario(n=200, arrivals="poisson", rate=1.6,
                                                 mix={"short": 0.3, "long": 0.7})), 1)),
        ("n", 320, lambda: (generate(Scenario(n=320, arrivals="poisson", rate=1.6)), 1)),
        ("replicas", 3, lambda: (generate(SCENARIO), 3)),
    ],
)  # fmt: skip
def test_parameters_change_what_they_say(name, value, by_hand):
    """The changed experiment runs like the one set up by hand."""
    stands = experiment()
    changed = find_parameter(stands, name).set_to(stands, value)
    workload, servers = by_hand()
    expected = Deployment(16_492, CLOCK, Topology(servers)).run(CHOICES[0], workload)
    assert (changed.run(CHOICES[0]).finished_at == expected.finished_at).all()


def test_a_parameter_changes_one_policy():
    """The others stay; one that none has is told with those there are."""
    stands = experiment()
    changed = find_parameter(stands, "vllm.max_num_seqs").set_to(stands, 8)
    assert changed.choices[0] == CHOICES[0]
    run = find_policy("vllm").run(generate(SCENARIO), 16_492, clock=CLOCK, watermark=0.05,
                                  max_num_seqs=8)  # fmt: skip
    assert (changed.run(changed.choices[1]).finished_at == run.finished_at).all()
    with pytest.raises(InputError, match="choose from memory, rate, share, n, error, width, repl"):
        find_parameter(stands, "fcfs.skip")


def test_two_parameters_of_one_policy_hold_together():
    """Both of a heat map's axes may belong to one policy: neither takes the other's place."""
    stands = experiment()
    for skip, margin in ((0, 0.2), (3, 0.1)):
        both = find_parameter(stands, "svf.skip").set_to(stands, skip)
        both = find_parameter(both, "svf.margin").set_to(both, margin)
        assert both.choices[0].values == {"skip": skip, "margin": margin}
    of = heat_map("svf.skip", "svf.margin", side=2)
    workload = generate(SCENARIO)
    for (column, row), found in all_cells(of).items():
        params = {"skip": of.columns[column], "margin": of.rows[row]}
        run = find_policy("svf").run(workload, 16_492, clock=CLOCK, **params)
        (mean,) = (each.mean_latency for label, each in found.items() if label.startswith("svf"))
        assert mean == run.latency.mean()


def test_given_requests_have_memory_rate_and_replicas():
    """A rate only stretches their arrivals; a backlog has none."""
    workload = generate(SCENARIO)
    stands = experiment(workload)
    known = [name for name in parameters_of(stands) if "." not in name]
    assert known == ["memory", "rate", "error", "width", "replicas"]
    parameter = find_parameter(stands, "rate")
    faster = parameter.set_to(stands, 2 * parameter.present).workload
    assert np.allclose(np.diff(faster.arrival) * 2, np.diff(workload.arrival))
    assert "rate" not in parameters_of(experiment(generate(Scenario(n=20))))


@pytest.mark.parametrize("name", ["memory", "rate", "share", "n", "replicas", "vllm.watermark"])
@pytest.mark.parametrize("count", [2, 5, 20])
def test_values_of_a_parameter(name, count):
    """Ascending, in range, whole where they must be, the ends kept."""
    parameter = find_parameter(experiment(), name)
    values = parameter.values(count)
    assert values == sorted(set(values))
    assert len(values) <= count
    assert (values[0], values[-1]) == parameter.usual
    assert all(parameter.read(value) == value for value in values)
    with pytest.raises(InputError, match="is no range"):
        parameter.values(3, parameter.usual[1], parameter.usual[1])


@pytest.mark.parametrize("border", [0.02, 1.7, 7.5, 900.0])
def test_a_range_spans_what_is_known(border):
    """A largest rate is inside the usual range with room on both sides, within what can stand."""
    parameter = find_parameter(experiment(), "rate")
    low, high = parameter.spanning([border]).usual
    assert low <= parameter.usual[0]
    assert parameter.usual[1] <= high
    assert low <= max(parameter.low, border / 1.4)
    assert min(parameter.high, 1.4 * border) <= high
    assert parameter.spanning([]).usual == parameter.usual


def test_passes_visit_every_cell_once_coarse_first(small):
    """And each portion's cells stand for those that are not done yet."""
    portions = passes(small)
    everywhere = [place for portion in portions for place in portion]
    assert len(everywhere) == len(set(everywhere)) == 36
    assert portions[0] == [(0, 0), (4, 0), (0, 4), (4, 4)]
    done = dict.fromkeys(portions[0])
    assert standing_for(done, (3, 3)) == (0, 0)
    assert standing_for(done, (5, 3)) == (4, 0)
    done |= dict.fromkeys(portions[1])
    assert standing_for(done, (3, 3)) == (2, 2)
    assert standing_for({}, (3, 3)) is None


def test_grid_of_a_stopped_map(small, cells):
    """Coarse cells cover it all; a finished map has each cell's own value."""
    value = METRICS["latency"][1]
    whole = grid(small, cells, "svf", value)
    coarse = {place: cells[place] for place in passes(small)[0]}
    blurred = grid(small, coarse, "svf", value)
    assert whole[3, 2] == cells[2, 3]["svf"].mean_latency
    assert (blurred[:4, :4] == whole[0, 0]).all()
    assert np.isnan(grid(small, {}, "svf", value)).all()


def test_where_nothing_fits_is_told(small):
    """An M below every request: no reading, no error, and not within the limits."""
    tiny = heat_map()
    squeezed = HeatMap(tiny.experiment, tiny.across, tiny.up, (1.0, 2.0), (2, 16_492), OBJECTIVE)
    found = all_cells(squeezed)
    assert found[0, 0] == {"svf": None, "vllm watermark=0.05": None}
    assert found[1, 1]["svf"] is not None
    told = in_words(squeezed, found, "svf")
    assert "25.0" in told  # one a second is carried in 16,492 tokens, two are not
    draw_heat_map(squeezed, found, "svf", "ttft")


def test_an_axis_twice_is_refused():
    """Two different parameters make a map."""
    with pytest.raises(InputError, match="two different knobs"):
        heat_map("memory", "memory")


@pytest.mark.parametrize("metric", METRICS)
def test_figure(small, cells, metric):
    """One line a policy where its limits end, a marker with its place for every cell."""
    figure = draw_heat_map(small, cells, "svf", metric, chosen=(1, 2))
    lines = [trace.name for trace in figure.data if trace.type == "contour"]
    assert lines == ["svf", "vllm watermark=0.05"]
    (markers,) = [t for t in figure.data if t.type == "scatter" and t.customdata is not None]
    assert {(data[0], data[1]) for data in markers.customdata} == set(cells)
    assert "svf meets its limits in" in describe_heat_map(small, cells, "svf")
    assert len(figure.to_json()) < 1_000_000


def test_contour_parts_met_from_missed(small, cells):
    """The line is drawn at 1 of a number that is at most 1 exactly where the objective is met."""
    figure = draw_heat_map(small, cells, "svf", "ttft")
    line = next(t for t in figure.data if t.type == "contour" and t.name == "svf")
    met = grid(small, cells, "svf", lambda told: told.is_met)
    assert ((np.array(line.z) <= 1) == (met == 1)).all()


def test_times_at_overload_are_grey():
    """They grow with the horizon and are no colour of the scale."""
    crowded = HeatMap(*_crowded())
    found = all_cells(crowded)
    over = grid(crowded, found, "svf", lambda told: told.verdict == "overloaded")
    assert over.any()
    figure = draw_heat_map(crowded, found, "svf", "latency")
    grey, colours = [trace for trace in figure.data if trace.type == "heatmap"]
    assert (np.isnan(np.array(colours.z, float)) == (over == 1)).all()
    assert (np.isnan(np.array(grey.z, float)) == (over == 0)).all()


def _crowded():
    stands = experiment()
    x, y = find_parameter(stands, "rate"), find_parameter(stands, "memory")
    return stands, x, y, (0.5, 20.0), (12_000, 16_492), Objective()
