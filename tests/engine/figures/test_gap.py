"""The gap page's charts hold the numbers they are given, readable at any size."""

import itertools
import math
import re
from dataclasses import replace

import pytest

from engine import (
    Bound,
    Deployment,
    Experiment,
    Scenario,
    Workload,
    find_method,
    find_policy,
    generate,
)
from engine.evidence.convergence import climbs
from engine.evidence.losses import Loss, loss_of
from engine.figures.convergence import describe_convergence, draw_convergence
from engine.figures.gaps import draw_gaps, explain_lines
from engine.figures.legend import legend
from engine.figures.losses import describe_losses, draw_losses
from engine.figures.palette import STYLES, policy_style
from engine.figures.percent_axis import height, percent_axis
from engine.figures.search import describe_search, draw_search
from engine.figures.sensitivity import describe_sensitivity, draw_sensitivity
from engine.figures.ticks import round_numbers, short
from engine.measure.league import league
from engine.sweeps.sensitivity import GapReading, Point, series_of

LOSS = Loss("svf", "svf", "fluid", 100.0, 2.0, 8.0, 0.0)


@pytest.fixture(scope="module")
def six():
    """(2, 3) x 6 in M = 10 with the bounds of the LP."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    bounds = find_method("lp").bounds(workload, 10)
    return league([find_policy(key).run(workload, 10) for key in ("svf", "vllm")], bounds), bounds


def test_no_two_policies_look_alike():
    """Each listed policy has a colour and dash of its own, the costly ones too."""
    assert len(set(STYLES.values())) == len(STYLES)
    assert {"best-found", "hindsight", "sorted-lp", "lp-swap", "sorted-f-online"} <= set(STYLES)


def test_bars_of_losses_add_up():
    """Shares of one gap sum to 100 %; a part that nobody has is not in the legend."""
    losses = [LOSS, replace(LOSS, label="vllm", ordering=90.0, given_up=0.2)]
    drawn = draw_losses(losses)
    assert [bar.name for bar in drawn.data] == ["ordering", "idle memory"]
    assert [sum(xs) for xs in zip(*(bar.x for bar in drawn.data), strict=True)] == pytest.approx(
        [100, 100], abs=0.5
    )
    assert list(drawn.data[0].text) == ["+2.0\u202f%", "+90.0\u202f%"]
    assert "svf 20.0\u202f% ordering, 80.0\u202f% idle memory" in describe_losses(losses)


def test_lost_cache_is_drawn_where_there_is_some():
    """A run that throws much away shows it."""
    drawn = draw_losses([replace(LOSS, given_up=5.0)])
    assert [bar.name for bar in drawn.data] == ["ordering", "idle memory", "lost cache"]


def test_bounds_side_by_side(six):
    """Two lines as near as can be: one name ends where the other begins."""
    entries, bounds = six
    drawn = draw_gaps(entries, bounds)
    names = {note.text: note.xanchor for note in drawn.layout.annotations}
    assert names == {"lp-preemptive": "right", "lp": "left"}
    low, high = drawn.layout.xaxis.range
    assert low < min(bound.value for bound in bounds)
    assert high > 36
    assert "no run can be left of lp-preemptive" in explain_lines(bounds)


def test_gaps_without_a_bound_line(six):
    """An uncertified value is no line, and the chart is drawn all the same."""
    entries, _ = six
    drawn = draw_gaps(entries, [Bound("guess", 99.0, False, True, "test")])
    assert len(drawn.layout.shapes) == 0
    assert list(drawn.data[0].x) == [33, 36]
    assert explain_lines([]) == ""


def test_convergence_draws_every_step():
    """The history of each bound, and the LP's value as a dashed line."""
    history = ((0.0, 30.0), (0.5, 32.0), (1.0, 33.0))
    bounds = [Bound("prices", 33.0, True, False, "test", history=history)]
    lp = Bound("lp", 33.5, True, False, "test")
    drawn = draw_convergence(climbs(bounds), [lp])
    assert list(drawn.data[0].x) == [0.0, 0.5, 1.0]
    assert list(drawn.data[0].y) == [30.0, 32.0, 33.0]
    assert drawn.layout.shapes[0].y0 == 33.5
    assert "prices from 30 to 33 rounds in 1.0 s" in describe_convergence(climbs(bounds))


def test_search_has_room_for_all(six):
    """Points and the rival's line are within the axis."""
    entries, _ = six
    svf, vllm = sorted(entries, key=lambda entry: entry.label)
    drawn = draw_search([(0.5, svf), (1.5, svf)], vllm)
    low, high = (10**end for end in drawn.layout.yaxis.range)
    for entry in entries:
        assert low < height(entry.gap) < high
    assert list(drawn.data[0].x) == [0.5, 1.5]
    assert "after 0.5 s, +" in describe_search([(0.5, svf)])
    assert len(draw_search([(0.5, svf)], None).layout.shapes) == 0


def points_of(series, gaps):
    return [
        Point(situation.value, 10, 0, {name: GapReading(name, gap) for name, gap in gaps.items()})
        for situation in series.situations
    ]


def series(varies):
    every = series_of(Experiment(Scenario(n=20), Deployment(16_492)))
    return next(series for series in every if series.varies == varies)


def test_small_multiples_share_one_scale():
    """All siblings have the range of all points; a policy that no bound covers has no line."""
    memory, share = series("memory"), series("share")
    left = points_of(memory, {"svf": 1.05, "vllm": None})
    right = points_of(share, {"svf": 1.5, "fcfs": 9.0})
    charts = [
        draw_sensitivity(memory, left, left + right),
        draw_sensitivity(share, right, left + right),
    ]
    assert charts[0].layout.yaxis.range == charts[1].layout.yaxis.range
    assert [line.name for line in charts[0].data] == ["svf"]
    assert [line.name for line in charts[1].data] == ["svf", "fcfs"]  # the dashed one on top
    assert charts[0].layout.xaxis.type == "log"
    assert charts[1].layout.xaxis.type == "linear"
    assert "at 8\u202f246 svf +5.0\u202f%" in describe_sensitivity(memory, left)


def test_ticks_leave_each_other_room():
    """The present share of 80 % has a point but no tick beside that of 75 %."""
    share = series("share")
    points = points_of(share, {"svf": 1.5})
    drawn = draw_sensitivity(share, points, points)
    assert list(drawn.layout.xaxis.ticktext) == ["0", "25", "50", "75", "100"]
    assert 80 in drawn.data[0].x


def test_an_optimal_run_is_on_the_axis():
    """No gap at all has no logarithm: it is drawn at the floor, which says so."""
    axis = percent_axis([1.0, 1.2])
    assert height(1.0) == 0.1
    assert axis["ticktext"][0] == "≤ 0.1"
    assert 10 ** axis["range"][0] < 0.1


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (2, 19, [2, 5, 10]),
        (0.1, 100, [0.1, 1, 10, 100]),
        (11, 42, [20, 30]),
        (13, 17, []),
        (1, 100, [1, 10, 100]),
    ],
)
def test_round_numbers(low, high, ticks):
    """Few enough to be read on a phone."""
    assert round_numbers(low, high) == pytest.approx(ticks)


def test_short():
    """Three digits and a letter."""
    assert [short(x) for x in (0.5, 250, 1000, 24_738, 2e6, 3e9)] == [
        "0.5", "250", "1k", "24.7k", "2M", "3G",
    ]  # fmt: skip


def test_legend_shows_colours_and_dashes():
    """One stroke for a solid line, several for a dashed one; labels cannot inject HTML."""
    drawn = legend({"svf": "svf", "<b>": "fcfs"})
    assert policy_style("svf")[0] in drawn
    assert drawn.count(f"background:{policy_style('svf')[0]}") == 1
    assert drawn.count(f"background:{policy_style('fcfs')[0]}") > 1
    assert "&lt;b&gt;" in drawn
    assert "<b>" not in drawn


def test_every_dash_can_be_drawn():
    """In the legend as in the charts."""
    assert all(legend({key: key}) for key in STYLES)


def test_figures_stay_small():
    """Whatever n is, a chart of the page is far below 5 MB."""
    workload = generate(Scenario(n=5000))
    bounds = find_method("fluid").bounds(workload, 16_492)
    entries = league([find_policy("svf").run(workload, 16_492)], bounds)
    drawn = [draw_gaps(entries, bounds), draw_losses([loss_of(entries[0], bounds[0])])]
    assert all(len(figure.to_json()) < 50_000 for figure in drawn)


def test_ticks_never_crowd():
    """Over any range up to six decades there are at most eight."""
    for low, decades in itertools.product((0.13, 1, 7.7), (0.3, 1, 2, 3, 6)):
        assert len(round_numbers(low, low * 10**decades)) <= 8
        assert all(math.isfinite(tick) for tick in round_numbers(low, low * 10**decades))


def test_hover_names_units(six):
    """Rounds, seconds and per cent are written out where numbers are shown."""
    entries, bounds = six
    hovers = [trace.hovertemplate for trace in draw_gaps(entries, bounds).data]
    hovers += [bar.hovertemplate for bar in draw_losses([LOSS]).data]
    assert all(re.search("rounds", hover) for hover in hovers)
