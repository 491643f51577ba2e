"""The works and times that bounds in seconds are made of, against every round of plain servers."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload
from engine.machine.clock import StepTime, seconds_clock
from engine.proof.work.alone import prefill_in_chunks, time_alone
from engine.proof.work.ascent import ascend
from engine.proof.work.cells import Cells, cells_over, in_groups
from engine.proof.work.dual import DualFunction, WorkRequests
from engine.proof.work.envelope import Envelope, floors, steepest, work
from engine.proof.work.ramps import Ramps, knots_between
from engine.simulate.look_ahead import look_ahead
from engine.simulate.preempting import Admission
from tests.twins import plain_server
from tests.twins.strategies import instances

STEPS = st.builds(
    StepTime,
    st.sampled_from([0.0, 0.04, 1.0]),
    st.sampled_from([0.0, 0.002, 0.03, 0.5]),
    st.sampled_from([0.0, 0.5, 3.0, 9.0, 30.0]),
    st.sampled_from([0.0, 1e-4, 0.01]),
    st.sampled_from([0.0, 1e-3, 0.2]),
).filter(lambda step: step.c0 + step.c1 + step.c2 + step.c3 > 0)


@st.composite
def envelopes(draw, step, every_run):
    """Any line; any knee too where no prompt is cut."""
    knee = 0.0 if every_run else draw(st.floats(0, 1)) * step.n0
    largest = steepest(step, knee)
    return Envelope(draw(st.floats(0, 1)) * largest.theta, knee)


def tokens_of(step, memory, envelope, s, o, every_run):
    """Plain works of the tokens 1 .. o, from the formulas of docs/model.md 3.4."""
    g1 = envelope.theta * step.c1
    g0 = step.c0 - g1 * (step.n0 - envelope.knee)
    works = [g1 * max(0, s - envelope.knee) + g0 * (s + 1) / memory]
    for j in range(2, o + 1):
        d = step.c2 * (s + j - 1) + step.c3 + g1 * max(0, 1 - envelope.knee)
        again = g1 * (s + j - 1)
        works.append((min(d, again) if every_run else d) + g0 * (s + j) / memory)
    return np.array(works)


@dataclass
class Recorder(plain_server.PlainServer):
    """A plain server that keeps every round's begin, end and tokens."""

    rounds: list = field(default_factory=list)
    yielded: list = field(default_factory=list)

    def _step(self):
        begin, self.yielded = self.time, []
        super()._step()
        self.rounds.append((begin, self.time, self.yielded))

    def _token(self, i):
        super()._token(i)
        self.yielded.append((i, self.gen[i]))


@st.composite
def recorded(draw):
    """(recorder, step, memory, kept) after a run under one of the three rules."""
    workload, memory = draw(instances(max_n=6, max_memory=30))
    step = draw(STEPS)
    kind = draw(st.sampled_from(["look ahead", "preempting", "swap", "chunked"]))
    server = Recorder(workload, memory, seconds_clock(*step))
    rule = Admission(memory, 9, draw(st.integers(1, 20)), 1, draw(st.integers(0, 2)), False, 0.0)
    if kind == "look ahead":
        order = draw(st.permutations(range(len(workload))))
        server.run(plain_server.look_ahead(order, draw(st.integers(0, 2))))
    elif kind == "chunked":
        server.run(plain_server.chunked(rule))
    else:
        rule = rule._replace(swap=kind == "swap", transfer=0.1)
        server.run(plain_server.preempting(rule, set()))
    return server, step, memory, kind != "chunked" and not any(server.lost)


@settings(max_examples=1500)
@given(st.data(), recorded())
def test_no_round_does_more_work_than_it_has_time_for(data, run):
    """Under every envelope; summed up to every round, as chunks are paid before their token."""
    server, step, memory, kept = run
    for every_run in [True, False] if kept else [True]:
        envelope = data.draw(envelopes(step, every_run))
        works = [
            tokens_of(step, memory, envelope, s, o, every_run)
            for s, o in zip(server.prompt, server.output, strict=True)
        ]
        last_time = {token: r for r, (_, _, ts) in enumerate(server.rounds) for token in ts}
        spare = 0.0
        for r, (begin, end, tokens) in enumerate(server.rounds):
            spare += end - begin
            spare -= sum(works[i][j - 1] for i, j in tokens if last_time[i, j] == r)
            assert spare >= -1e-9 * max(1.0, end)
            if not every_run:
                spare = 0.0


@settings(max_examples=1000)
@given(recorded())
def test_no_token_comes_faster_than_alone(run):
    """Time alone from arrival to completion, and `shortest` for every step after the first."""
    server, step, _, kept = run
    for every_run in [True, False] if kept else [True]:
        alone = time_alone(server.workload, step, every_run)
        latency = np.array(server.finished_at) - server.arrival
        assert (latency >= alone.total - 1e-9 * np.maximum(1.0, server.finished_at)).all()
        ends = {token: end for _, end, tokens in server.rounds for token in tokens}
        for (i, j), end in ends.items():
            steps = server.output[i] - j
            assert end <= server.finished_at[i] - steps * alone.shortest + 1e-9 * max(1.0, end)


@settings(max_examples=600)
@given(st.data(), instances(max_n=4, max_memory=60), STEPS, st.booleans())
def test_works_by_request(data, instance, step, every_run):
    """The closed forms are the plain sums; the line is below every later token's work."""
    workload, memory = instance
    envelope = data.draw(envelopes(step, every_run))
    found = work(workload, memory, step, envelope, every_run)
    for i, (s, o) in enumerate(zip(workload.prompt, workload.output, strict=True)):
        plain = tokens_of(step, memory, envelope, int(s), int(o), every_run)
        assert found.first[i] == pytest.approx(plain[0], abs=1e-12)
        assert found.total[i] == pytest.approx(plain.sum(), abs=1e-12)
        line = found.base[i] + found.slope[i] * np.arange(2, o + 1)
        assert (line <= plain[1:] + 1e-12).all()
        if not every_run:
            assert line == pytest.approx(plain[1:], abs=1e-12)


@settings(max_examples=600)
@given(instances(max_n=1, max_memory=40, backlog=True), STEPS)
def test_time_alone(instance, step):
    """A single request takes just that; cut or prefilled again at best, no more."""
    workload, memory = instance
    run = look_ahead(workload, memory, np.arange(1), 0, seconds_clock(*step))
    kept, every = time_alone(workload, step), time_alone(workload, step, every_run=True)
    assert run.latency[0] == pytest.approx(kept.total[0])
    s, o = int(workload.prompt[0]), int(workload.output[0])

    def in_chunks(p):
        return min(m * step.c0 + step.c1 * max(0, p - m * step.n0) for m in range(1, p + 1))

    least = in_chunks(s) + sum(min(step(0, 1, x), in_chunks(x)) for x in range(s + 1, s + o))
    assert every.total[0] == pytest.approx(least)
    assert prefill_in_chunks(workload.prompt, step)[0] == pytest.approx(in_chunks(s))
    assert every.shortest <= kept.shortest + 1e-12


def test_time_alone_beyond_the_table(monkeypatch):
    """Contexts longer than the table are charged like its last, which is less."""
    step = StepTime(0.04, 0.0002, 90, 1e-5, 1e-4)
    workload = Workload([0, 0], [10, 300], [40, 200])
    whole = time_alone(workload, step, every_run=True)
    monkeypatch.setattr("engine.proof.work.alone.TABLE", 100)
    short = time_alone(workload, step, every_run=True)
    assert short.total[0] == whole.total[0]
    assert 0.9 * whole.total[1] < short.total[1] < whole.total[1]


@settings(max_examples=300)
@given(instances(max_n=5, max_memory=60), STEPS, st.integers(1, 400), st.floats(1e-3, 1e3))
def test_groups_hold_all_tokens(instance, step, count, seconds):
    """A group's work is its tokens', and no token is put later than it can be."""
    workload, memory = instance
    shortest = time_alone(workload, step).shortest
    cells = cells_over(seconds, shortest, int(workload.output.max()), count)
    assert cells.width * cells.count >= seconds
    found = work(workload, memory, step, floors(step)[0])
    grouped = in_groups(found, workload.output, cells)
    for i, o in enumerate(workload.output):
        j = np.arange(1, o + 1)
        plain = found.base[i] + found.slope[i] * j
        plain[0] = found.first[i]
        h = (o - j) // cells.group
        assert (h * cells.width <= (o - j) * shortest).all()
        by_group = np.bincount(h, plain)
        assert grouped.last[i] == len(by_group) - 1
        lines = grouped.level[i] - grouped.fall[i] * np.arange(len(by_group) - 1)
        assert by_group[:-1] == pytest.approx(lines, abs=1e-12)
        assert by_group[-1] == pytest.approx(grouped.tail[i], abs=1e-12)


@st.composite
def dual_functions(draw):
    """L of a small instance on few cells, and the workload."""
    workload, memory = draw(instances(max_n=5, max_memory=30))
    step = draw(STEPS)
    every_run = draw(st.booleans())
    works = [work(workload, memory, step, floor, every_run) for floor in floors(step, every_run)]
    alone = time_alone(workload, step, every_run)
    last = float(
        look_ahead(
            workload, memory, np.arange(len(workload)), clock=seconds_clock(*step)
        ).finished_at.max()
    )
    cells = cells_over(
        last or 1.0, alone.shortest, int(workload.output.max()), draw(st.integers(1, 30))
    )
    return DualFunction(WorkRequests.of(workload, alone, works, draw(st.integers(1, 3))), cells)


def plain_cost(requests, cells, prices, i, cell):
    """What request i costs if it completes in that cell: every token priced by itself."""
    cost = max(cell * cells.width, requests.earliest[i]) - requests.arrival[i]
    for lam, each in zip(prices, requests.works, strict=True):
        for j in range(1, requests.output[i] + 1):
            w = each.first[i] if j == 1 else each.base[i] + each.slope[i] * j
            at = cell - (requests.output[i] - j) // cells.group
            cost += w * lam[at] if at < len(lam) else 0.0
    return cost


@settings(max_examples=400)
@given(st.data(), dual_functions())
def test_dual_function(data, function):
    """The plain sum over every token at every cell, and not above it."""
    requests, cells = function.requests, function.cells
    count = data.draw(st.integers(1, cells.count))
    raw = data.draw(
        st.lists(
            st.lists(st.floats(0, 9), min_size=count, max_size=count),
            min_size=len(requests.works),
            max_size=len(requests.works),
        )
    )
    prices = np.sort(np.array(raw), axis=1)[:, ::-1]
    priced = function.at(prices)
    value = -requests.replicas * cells.width * prices.sum()
    for i in range(len(requests.arrival)):
        first = int(requests.earliest[i] / cells.width)
        tried = range(first, count + requests.output[i] + first + 1)
        costs = [plain_cost(requests, cells, prices, i, cell) for cell in tried]
        value += min(costs)
        chosen = plain_cost(requests, cells, prices, i, priced.cell[i])
        assert chosen == pytest.approx(min(costs), abs=1e-9)
    assert priced.value <= value
    size = abs(value) + requests.replicas * cells.width * prices.sum() + requests.arrival.sum()
    assert priced.value == pytest.approx(value, abs=1e-9 * (1 + size))


@settings(max_examples=200)
@given(dual_functions())
def test_ascent(function):
    """It never falls, its ceiling is above it, and a plane prices what L prices."""
    requests, cells = function.requests, function.cells
    completion = requests.earliest + 0.3 * cells.width * cells.count
    knots = np.unique(np.ceil(knots_between(completion, 5) / cells.width)) * cells.width
    ramps = Ramps(function, knots)
    rises = list(ascend(ramps, completion))
    values = [rise.best.value for rise in rises]
    assert values == sorted(values)
    last = rises[-1]
    assert last.best.value <= last.ceiling * (1 + 1e-6) + 1e-9
    cell = function.cell_of(completion)
    worked = ramps.worked(cell, np.zeros(len(completion), np.int64))[0]
    charged = sum(
        plain_cost(requests, cells, ramps.prices(last.numbers), i, at)
        - plain_cost(requests, cells, [np.zeros(1)] * len(requests.works), i, at)
        for i, at in enumerate(cell)
    )
    assert (worked * last.numbers).sum() == pytest.approx(charged, rel=1e-9, abs=1e-9)


def test_prices_that_rise_by_rounding_do_not():
    """Sums of ramps in floating point are made to fall."""
    workload = Workload([0.0] * 3, [5, 9, 2], [3, 7, 20])
    step = StepTime(0.04, 0.002, 3, 1e-4, 1e-3)
    works = [work(workload, 40, step, floor) for floor in floors(step)]
    requests = WorkRequests.of(workload, time_alone(workload, step), works, 1)
    function = DualFunction(requests, Cells(0.01, 1, 500))
    ramps = Ramps(function, np.linspace(0.02, 5.0, 60))
    numbers = np.random.default_rng(3).random((2, 60))
    prices = ramps.prices(numbers)
    assert (np.diff(prices, axis=1) <= 0).all()
    assert prices == pytest.approx(numbers @ ramps.shapes)


def test_prices_are_found_without_a_ramp_by_cell():
    """Judging on many cells writes out no (knots, cells) array."""
    workload = Workload([0.0] * 3, [5, 9, 2], [3, 7, 20])
    step = StepTime(0.04, 0.002, 3, 1e-4, 1e-3)
    works = [work(workload, 40, step, floor) for floor in floors(step)]
    requests = WorkRequests.of(workload, time_alone(workload, step), works, 1)
    ramps = Ramps(DualFunction(requests, Cells(1e-4, 1, 50_000)), np.linspace(0.02, 4.0, 40))
    prices = ramps.prices(np.ones((2, 40)))
    assert prices.shape == (2, 50_000)
    assert "shapes" not in vars(ramps)
    assert (prices[:, 40_000:] == 0.0).all()


def test_the_shortest_step_is_of_requests_that_have_one():
    """A short prompt with a single token takes no step after its first."""
    step = StepTime(0.0, 0.002, 3, 1e-4, 0.0)
    found = time_alone(Workload([0, 0], [1, 50], [1, 9]), step)
    assert found.shortest == step(0.0, 1.0, 51.0)
    assert time_alone(Workload([0], [4], [1]), step).shortest == step(0.0, 1.0, 5.0)
