"""Every kernel does what a plain server that walks each round does, on both clocks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.admission_limits import AdmissionLimits
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.token_gaps import largest_token_gap
from engine.memory_curve import memory_curve
from engine.progress import silent
from engine.simulate.arrival_queue import GAVE_UP, TURNED_AWAY
from engine.simulate.chunked import chunked
from engine.simulate.look_ahead import look_ahead
from engine.simulate.preempting import Admission, preempting
from engine.simulate.replay import replay
from engine.simulate.run import Run
from engine.simulate.timetable import NEVER
from tests.twins import plain_server
from tests.twins.strategies import ADMISSION_LIMITS, instances

# Multiples of 1/64 add up without rounding, so that a sum over a jump equals the sum of
# its rounds bit for bit, and a tie between an arrival and a round is a tie in both.
coefficient = st.integers(0, 64).map(lambda k: k / 64)
SECONDS = st.builds(
    seconds_clock,
    st.integers(1, 64).map(lambda k: k / 64),
    coefficient,
    st.integers(0, 20).map(float),
    coefficient,
    coefficient,
)
WHY = {GAVE_UP: "gave up", TURNED_AWAY: "turned away"}
CLOCKS = st.one_of(st.just(ROUNDS), SECONDS)


def compare(run, plain):
    n = len(run.workload)
    left = np.zeros(n, int) if run.left is None else run.left
    assert {i: WHY[left[i]] for i in range(n) if left[i] in WHY} == plain.gone
    if len(plain.gone) == n:
        return
    run = run.served()
    kept = [i for i in range(n) if i not in plain.gone]

    def of_served(values):
        return [values[i] for i in kept]

    assert run.start.tolist() == of_served(plain.start)
    assert run.first_token.tolist() == of_served(plain.first_token)
    assert run.finish.tolist() == of_served(plain.finish)
    assert run.started_at == pytest.approx(of_served(plain.started_at), rel=1e-12)
    assert run.first_token_at == pytest.approx(of_served(plain.first_token_at), rel=1e-12)
    assert run.finished_at == pytest.approx(of_served(plain.finished_at), rel=1e-12)
    assert run.preemptions.tolist() == of_served(plain.lost)
    assert run.recomputed.tolist() == of_served(plain.recomputed)
    assert memory_curve(run).peak == max(plain.used) <= run.memory
    assert run.workload.arrival == pytest.approx(of_served(plain.arrival), rel=1e-12)


LOOPS = st.one_of(st.just(0), st.integers(1, 9))  # clients of a closed loop; 0: none


def on_terms(terms):
    """A closed loop of so many clients, or a door."""
    return (
        {"admission_limits": terms}
        if isinstance(terms, AdmissionLimits)
        else {"concurrency": terms}
    )


@settings(max_examples=2000)
@given(
    instances(),
    CLOCKS,
    st.one_of(LOOPS, ADMISSION_LIMITS),
    st.booleans(),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_look_ahead(instance, clock, terms, with_cache, skip, random):
    """Start for start and second for second, for any order and any skip."""
    workload, memory = instance
    workload = replace(workload, with_cache=with_cache, **on_terms(terms))
    order = list(range(len(workload)))
    random.shuffle(order)
    run = look_ahead(workload, memory, np.array(order), skip, clock)
    plain = plain_server.PlainServer(workload, memory, clock)
    compare(run, plain.run(plain_server.look_ahead(order, skip)))


@st.composite
def admissions(draw, memory, blocks):
    block = draw(st.integers(1, blocks))
    return Admission(
        limit=draw(st.integers(0, memory // block * block)),
        max_num_seqs=draw(st.integers(1, 9)),
        max_tokens=draw(st.one_of(st.just(NEVER), st.integers(1, 50))),
        block=block,
        victim=draw(st.integers(0, 2)),
        swap=draw(st.booleans()),
        transfer=draw(coefficient),
    )


@st.composite
def preempting_cases(draw):
    workload, memory = draw(instances())
    terms = draw(st.one_of(LOOPS, ADMISSION_LIMITS))
    workload = replace(workload, with_cache=draw(st.booleans()), **on_terms(terms))
    clock = draw(CLOCKS)
    # Room for whole blocks: a request may fit in M and not in its blocks.
    rule = draw(admissions(memory + 2, 3))
    return workload, memory + 2, rule, clock


@settings(max_examples=1500)
@given(preempting_cases())
def test_preempting(case):
    """For any limit, cap, token budget, block, victim and swap."""
    workload, memory, rule, clock = case
    run = preempting(workload, memory, rule, clock, silent)
    plain = plain_server.PlainServer(workload, memory, clock)
    compare(run, plain.run(plain_server.preempting(rule, set())))


@settings(max_examples=1500)
@given(preempting_cases())
def test_chunked(case):
    """With prompts in chunks, for any budget of tokens."""
    workload, memory, rule, clock = case
    rule = rule._replace(swap=False, max_tokens=min(rule.max_tokens, 50))
    run = chunked(workload, memory, rule, clock, silent)
    plain = plain_server.PlainServer(workload, memory, clock)
    compare(run, plain.run(plain_server.chunked(rule)))


@settings(max_examples=500)
@given(preempting_cases())
def test_largest_token_gap(case):
    """The longest wait between two tokens, preempted or not, restarts left out."""
    workload, memory, rule, clock = case
    schedule = preempting(workload, memory, rule, clock, silent)
    plain = plain_server.PlainServer(workload, memory, clock)
    plain.run(plain_server.preempting(rule, set()))
    gaps = [np.diff(times).max(initial=-np.inf) for times in plain.token_at]
    gaps = [gap if np.isfinite(gap) else np.nan for gap in gaps]
    gaps = [gap for i, gap in enumerate(gaps) if i not in plain.gone]
    if gaps:
        assert largest_token_gap(Run(schedule.served())) == pytest.approx(
            gaps, rel=1e-9, nan_ok=True
        )


@settings(max_examples=500)
@given(instances(backlog=True), SECONDS)
def test_replay(instance, clock):
    """A backlog's schedule, put on the clock all at once, has the kernel's times."""
    workload, memory = instance
    run = look_ahead(workload, memory, np.arange(len(workload)), 1, clock)
    again = replay(workload, memory, run.start, clock)
    assert again.started_at == pytest.approx(run.started_at)
    assert again.first_token_at == pytest.approx(run.first_token_at)
    assert again.finished_at == pytest.approx(run.finished_at)


@settings(max_examples=300)
@given(instances())
def test_a_second_a_round_is_the_rounds_clock(instance):
    """c0 = 1 and whole arrivals: the same times on both clocks."""
    workload, memory = instance
    workload = workload.__class__(np.ceil(workload.arrival), workload.prompt, workload.output)
    order = workload.ascending(workload.volume)
    rounds = look_ahead(workload, memory, order)
    seconds = look_ahead(workload, memory, order, clock=seconds_clock(1.0))
    assert seconds.finished_at.tolist() == rounds.finish.tolist()
