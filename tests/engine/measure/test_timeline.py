"""Reduced pictures keep what must not be lost: peaks, tokens, separate slots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.machine.clock import seconds_clock
from engine.measure import timeline as tl
from engine.memory_curve import held_at, mean_memory, memory_curve
from tests.engine.simulate.test_clocks import SECONDS
from tests.twins.strategies import instances


@pytest.fixture(scope="module")
def long_run():
    """9,000 requests of two classes: far more change points than columns."""
    rng = np.random.default_rng(3)
    n = 9000
    short = rng.random(n) < 0.8
    prompt = np.where(short, rng.integers(1, 90, n), rng.integers(500, 4000, n))
    workload = Workload(
        np.sort(rng.random(n) * 5000),
        prompt,
        rng.integers(1, 300, n),
        (~short).astype(int),
        ("short", "long"),
    )
    return find_policy("svf").run(workload, 16_492)


def test_reduced_stack_keeps_every_column_peak(long_run):
    """Each column shows the most that its rounds hold; classes add up to the whole."""
    stack = tl.memory_stack(long_run)
    curve = memory_curve(long_run)
    assert not stack.exact
    assert len(stack.time) <= tl.COLUMNS
    assert stack.total.max() == curve.peak
    first, last = curve.time[0], curve.time[-1]
    edges = np.linspace(first, last, tl.COLUMNS + 1)[1:].astype(int)
    column_of_end = np.searchsorted(edges, curve.time[1:])
    shown = dict(zip(np.searchsorted(edges, stack.time).tolist(), stack.total, strict=True))
    for column, high in zip(column_of_end.tolist(), curve.high, strict=True):
        assert shown[column] >= high


@settings(max_examples=200)
@given(instances())
def test_exact_stack_is_the_curve(instance):
    """Short runs show every change point, by class and in total."""
    workload, memory = instance
    run = find_policy("vllm").run(workload, memory)
    stack, curve = tl.memory_stack(run), memory_curve(run)
    assert stack.exact
    assert stack.total[0::2].tolist() == curve.low.tolist()
    assert stack.total[1::2].tolist() == curve.high.tolist()


def test_window_cuts_pieces_at_its_edges(long_run):
    """A window shows its own rounds only, and its values are those of the whole."""
    stack = tl.memory_stack(long_run, (1000, 1010))
    whole = memory_curve(long_run)
    assert stack.exact
    assert stack.time.min() == 1000
    assert stack.time.max() == 1010
    at = 1005
    piece = np.searchsorted(whole.time[1:], at)
    held = whole.low[piece] + whole.alive[piece] * (at - whole.time[piece])
    shown = np.interp(at, stack.time[1::2], stack.total[1::2])
    assert shown <= held + whole.alive[piece] * 10


@settings(max_examples=200)
@given(instances(max_n=12))
def test_slots_never_overlap(instance):
    """Two stays in one slot do not share a round, and no slot is wasted."""
    workload, memory = instance
    residencies = find_policy("vllm").run(workload, memory).residencies
    slot = tl.slots(residencies.begin, residencies.end)
    for number in range(slot.max() + 1):
        mine = slot == number
        ends, begins = np.sort(residencies.end[mine]), np.sort(residencies.begin[mine])
        assert (begins[1:] >= ends[:-1]).all()
    moments = np.unique(residencies.begin)
    at_once = [((residencies.begin <= at) & (residencies.end > at)).sum() for at in moments]
    assert slot.max() + 1 == max(at_once)


def test_density_adds_up_to_the_memory(long_run):
    """Summed over sizes, a column holds what the curve says at its middle round."""
    cells, curve = tl.density(long_run), memory_curve(long_run)
    piece = np.searchsorted(curve.time[1:], cells.time)
    inside = cells.time > curve.time[0]
    held = curve.low[piece] + curve.alive[piece] * (cells.time - curve.time[piece])
    assert (cells.tokens.sum(axis=0) == held)[inside].all()
    assert (cells.requests.sum(axis=0) == curve.alive[piece])[inside].all()


def test_an_idle_server_holds_nothing():
    """Rounds of 1 s: (2, 1) from 0 to 1, idle to 5, (3, 2) from 5 to 7; 3, then 4 and 5 tokens."""
    workload = Workload([0, 5], [2, 3], [1, 2])
    run = find_policy("fcfs").run(workload, 10, clock=seconds_clock(1.0))
    stack = tl.memory_stack(run)
    assert stack.time.tolist() == [0, 1, 1, 5, 5, 7]
    assert stack.total.tolist() == [2, 3, 0, 0, 3, 5]
    assert mean_memory(run) == (1 * 3 + 4 * 0 + 1 * 4 + 1 * 5) / 7


def test_mean_memory_is_the_same_on_the_rounds_clock():
    """There a round is a unit of time, and idle rounds are pieces like others."""
    run = find_policy("fcfs").run(Workload([0, 5], [2, 3], [1, 2]), 10)
    assert mean_memory(run) == memory_curve(run).mean == 12 / 7


def test_longer_rounds_weigh_more():
    """(1, 99), a round after the first lasting 1 ms a token before it: 2, 3, .., 100 tokens."""
    run = find_policy("fcfs").run(Workload([0], [1], [99]), 100, seconds_clock(0, 0, 0, 1e-3, 0))
    rounds = np.arange(1, 99)
    tokens = rounds + 2
    assert mean_memory(run) == pytest.approx(np.average(tokens, weights=rounds + 1))
    assert mean_memory(run) == pytest.approx(67.35, abs=0.005)


@settings(max_examples=60)
@given(instance=instances(), clock=SECONDS, key=st.sampled_from(["svf", "vllm"]))
def test_mean_memory_round_for_round(instance, clock, key):
    """Every round's length times what is held at its end, over the time from the first start on."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory, clock)
    begun = int(run.residencies.begin.min())
    rounds = np.arange(begun + 1, run.finish.max() + 1)
    held = np.array([held_at(run, at)[1].sum() for at in rounds])
    begins, ends = run.begins(rounds - 1), run.ends(rounds)
    mean = (held * (ends - begins)).sum() / (ends[-1] - begins[0])
    assert mean_memory(run) == pytest.approx(mean)
