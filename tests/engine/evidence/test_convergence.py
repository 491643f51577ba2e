"""What is said of a bound that rose and of a search that went on is what their histories hold."""

import numpy as np
import pytest

from engine import Bound, Run, Scenario, Workload, find_method, generate
from engine.evidence.convergence import as_entries, climbs, is_better, relaxations
from engine.simulate.schedule import Schedule


def climb_of(*history):
    (climb,) = climbs([Bound("prices", history[-1][1], True, False, "test", history=history)])
    return climb


@pytest.mark.parametrize(
    ("history", "says"),
    [
        (((0, 1000), (1, 1010), (4, 1010)), "rose by 1 % in 4 s and has come to rest."),
        (((0, 1000), (1, 1004), (4, 1010)), "rose by 1 % in 4 s and was still rising"),
        (((0, 1000), (2.04, 1000)), "did not rise in 2 s: its start was as good."),
        (((0, 1000), (0.0081, 1000.58)), "rose by 0.058 % in 0.0081 s and has come to rest."),
    ],
)
def test_in_words(history, says):
    """How far, in which time, and whether more time would help."""
    assert says in climb_of(*history).in_words().replace("\u202f", " ")


def test_a_real_climb_never_falls():
    """The price bound's own history rises to the value it reports."""
    bounds = find_method("prices").bounds(generate(Scenario(n=150)), 16_492, time_limit=1)
    found = climbs(bounds)
    assert [climb.bound for climb in found] == ["prices", "prices-preemptive"]
    for climb, bound in zip(found, bounds, strict=True):
        assert (np.diff(climb.value) >= 0).all()
        assert (np.diff(climb.seconds) > 0).all()
        assert climb.value[-1] == bound.value
        assert climb.gained[0] == 0


def test_only_what_was_improved_has_a_climb():
    """The fluid bound is found in one step; the LP's rows are told apart from the others."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    fluid, lp = (find_method(key).bounds(workload, 10) for key in ("fluid", "lp"))
    assert climbs([*fluid, *lp]) == []
    assert relaxations([*fluid, *lp]) == lp
    history = ((0.0, 30.0), (1.0, 36.0))
    climb = Bound("prices", 36.0, True, False, "test", history=history, found_by="prices")
    assert relaxations([*lp, climb]) == lp[1:]


def test_a_search_never_falls_back():
    """A run counts where it is better than all before, and each is measured against the bound."""
    workload = Workload([0, 0], [1, 1], [2, 2])

    def run(*start):
        begun = np.array(start)
        schedule = Schedule(workload, 10, begun, begun + workload.output)
        return Run(schedule, "fcfs")

    middling, best, worst = run(0, 2), run(0, 0), run(4, 4)
    assert is_better(middling, None)
    assert is_better(best, middling)
    assert not is_better(worst, best)
    assert not is_better(best, best)
    story = [(1, middling), (3, best), (7, best)]
    bound = Bound("lp", 4.0, True, False, "test")
    assert [(spent, e.gap) for spent, e in as_entries(story, [bound])] == [(1, 1.5), (3, 1), (7, 1)]
    assert as_entries(story, []) == []
