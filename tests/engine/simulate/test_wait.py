"""WAIT and its nested groups: the fluid that sizes them, and what they do by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Workload, find_policy
from engine.fluid import Load, fluid_round, load_of
from engine.machine.clock import ROUNDS, StepTime, seconds_clock
from engine.memory_curve import memory_curve
from engine.policies.nested_wait import nested_wait
from engine.policies.wait import thresholds
from engine.progress import silent
from engine.simulate.gates import GateRule, gates_at
from engine.simulate.timetable import NEVER


def test_fluid_figures_of_the_wait_paper():
    """M* at 50, 60, 70 and 80 a second, and where it passes C and where the GPU is full."""
    a, b, d0 = 3.3463e-3, 3.784e-5, 13.8e-3
    step = StepTime(d0, 0.0, 0.0, b * d0, 0.0)

    def fluid_memory(rate):
        held = rate / (a * d0)  # tokens in memory, summed over the rounds of a request
        return held * fluid_round(step, Load(0.0, held, 0.0, held))

    published = {50: 34_377, 60: 55_758, 70: 100_327, 80: 250_509}
    for rate, tokens in published.items():
        assert fluid_memory(rate) == pytest.approx(tokens, rel=1e-3)
    assert fluid_memory(74.0) < 1.37e5 < fluid_memory(74.2)
    assert fluid_memory(88.4) < np.inf
    assert fluid_memory(88.5) == np.inf


@settings(max_examples=100)
@given(
    st.builds(StepTime, *[st.floats(0.01, 2)] * 2, st.floats(0, 50), *[st.floats(0, 0.1)] * 2),
    st.builds(Load, st.floats(0, 30), st.floats(0, 8), st.floats(0, 8), st.just(0.0)),
)
def test_fluid_round_solves_its_equation(step, load):
    """A round lasts what its own arrivals cost; none does where the GPU is overloaded."""
    length = fluid_round(step, load)
    if length == np.inf:
        assert step.c1 * load.tokens + step.c2 * load.context + step.c3 * load.decoding >= 1
        return
    over = max(0.0, load.tokens * length - step.n0)
    read = (step.c2 * load.context + step.c3 * load.decoding) * length
    assert length == pytest.approx(step.c0 + step.c1 * over + read, rel=1e-6, abs=1e-6)


def stage_model(group, rounds=60):
    """Completions a round of the WAIT paper's example: C = 12, prompt 1, output 1, 4 arrivals.

    A request at the prompt stage holds 1 token and at the output stage 2. `group` is how
    many start together; None: all that fit (first come first served), from 6 prompts and 3
    outputs; the newest restart when memory runs out.
    """
    prompts, outputs, waiting, done = (6, 3, 0, 0) if group is None else (0, 0, 0, 0)
    for _ in range(rounds):
        done += outputs
        outputs, prompts = prompts, 0
        evicted = max(0, outputs - 6)
        outputs -= evicted
        waiting += evicted + 4
        free = 12 - 2 * outputs
        prompts = min(waiting, free) if group is None else (group if waiting >= group else 0)
        waiting -= prompts
        assert prompts <= free
    return done / rounds


def test_wait_keeps_its_example_stable():
    """First come first served completes 3 to 3.5 a round, groups of the fluid's 4 all 4."""
    steady = Workload(np.repeat(np.arange(101.0), 4)[:401], [1] * 401, [1] * 401)
    (group,) = thresholds(steady, np.zeros(401, np.int64), 12, ROUNDS)
    assert group in (4, 5)  # 401 in 100 rounds: 4.01, for 4 in the limit
    assert 3 <= stage_model(None) <= 3.5
    assert stage_model(4) > 3.8


def test_wait_starts_whole_groups():
    """Two of each type start together; the last one, when no more are due, alone."""
    workload = Workload(
        [0, 1, 2, 3, 6], [2] * 5, [4] * 5, class_of=[0, 1, 0, 1, 0], classes=("a", "b")
    )
    run = find_policy("wait").run(workload, 100, threshold=2, max_wait=1000)
    assert run.start.tolist() == [2, 3, 2, 3, 6]
    impatient = find_policy("wait").run(workload, 100, threshold=2, max_wait=1.5)
    assert impatient.start.tolist() == [2, 3, 2, 3, 6]
    assert find_policy("wait").run(workload, 100, threshold=1).start.tolist() == [0, 1, 2, 3, 6]


def test_nested_wait_needs_time_to_pass():
    """Where a round may last nothing, its waits would never end."""
    still = seconds_clock(0, 0.1, 100, 1e-4, 5e-4)
    with pytest.raises(InputError, match="give c0 above 0"):
        find_policy("nested-wait").run(Workload([0], [1], [2]), 10, clock=still)


def test_nested_wait_pauses_with_its_memory():
    """Gate at 2 tokens for groups of two: the first stands there until the second has come."""
    workload = Workload([0, 3, 9], [1, 1, 1], [4, 4, 1])
    gates = GateRule(np.array([2, NEVER]), np.array([2, 1]), 1, 100.0)
    run = nested_wait(workload, 20, gates, ROUNDS, silent)
    assert run.finish.tolist() == [7, 7, 10]
    assert not run.gave_up_kv
    assert memory_curve(run, np.array([True, False, False])).high.tolist()[:4] == [3, 3, 3, 5]


def test_gates_shrink_with_those_who_pass():
    """Outputs 1 .. 100 in four parts: 3/4, 2/3 and 1/2 of those who come go on."""
    at, size = gates_at(np.arange(1, 101), 4, 20)
    assert at.tolist() == [25, 50, 75, NEVER]
    assert size.tolist() == [16, 11, 6, 1]


def test_load_counts_every_round():
    """(3, 4) prefills 3, decodes 3 tokens and reads 4 + 5 + 6 of context."""
    load = load_of(Workload([0, 2], [3, 3], [4, 4]))
    assert (load.tokens, load.context, load.decoding) == (6.0, 15.0, 3.0)
    assert load.held == 22.0
    assert fluid_round(seconds_clock(1.0).step, load) == 1.0
