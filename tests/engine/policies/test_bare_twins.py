"""Each policy that is no plain order equals a reference that imports nothing of the engine."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.errors import Livelock
from engine.machine.clock import ROUNDS, seconds_clock
from engine.policies.wait import thresholds, types_of
from engine.simulate.gates import gates_at
from tests.twins import bare_batches, bare_groups, bare_policies
from tests.twins.bare_server import BareServer, Endless

sixty_fourths = st.integers(0, 64).map(lambda k: k / 64)  # sums of these are exact
shares = st.integers(0, 9).map(lambda k: k / 10)
quarters = st.integers(0, 40).map(lambda k: k / 4)


@st.composite
def columns(draw, n, memory):
    """(prompt, output): of any sizes that fit, of few sizes, or such that nearly all fill M."""
    how = draw(st.sampled_from(["any", "equal", "short", "growing"]))
    if how == "equal":
        prompt = draw(st.integers(1, memory - 1))
        return [prompt] * n, [draw(st.integers(1, memory - prompt))] * n
    most = {"any": memory - 1, "short": min(4, memory - 1), "growing": min(3, memory - 1)}[how]
    prompt = draw(st.lists(st.integers(1, most), min_size=n, max_size=n))
    least = memory // 2 if how == "growing" else 1
    longest = 4 if how == "short" else memory
    output = [draw(st.integers(min(least, memory - s), min(longest, memory - s))) for s in prompt]
    return prompt, output


@st.composite
def servers(draw, max_n=7, max_memory=26):
    """A server with requests in any order of arrival, on either clock."""
    memory, n = draw(st.integers(2, max_memory)), draw(st.integers(1, max_n))
    moments = draw(st.sampled_from([st.just(0.0), quarters, st.integers(0, 3).map(float)]))
    arrival = draw(st.lists(moments, min_size=n, max_size=n))
    prompt, output = draw(columns(n, memory))
    knee = st.integers(0, 20)
    step = st.tuples(
        st.integers(1, 64).map(lambda k: k / 64), sixty_fourths, knee, sixty_fourths, sixty_fourths
    )
    return BareServer(arrival, prompt, output, memory, draw(st.none() | step))


def guesses(server):
    """The truth, or anything that fits."""
    room = [server.memory - s for s in server.prompt]
    wrong = st.tuples(*(st.integers(1, most) for most in room)).map(list)
    return st.one_of(st.just(list(server.output)), wrong)


def check(key, server, decide, params, **more):
    """The policy's starts, completions and preemptions are those of the walk."""
    workload = Workload(server.arrival, server.prompt, server.output, **more)
    clock = ROUNDS if server.step is None else seconds_clock(*server.step)
    try:
        run = find_policy(key).run(workload, server.memory, clock=clock, **params)
    except Livelock:
        assume(False)
    started, finished, losses = server.walk(decide)
    assert run.started_at.tolist() == pytest.approx(started, rel=1e-12, abs=1e-12)
    assert run.finished_at.tolist() == pytest.approx(finished, rel=1e-12)
    assert run.preemptions.tolist() == losses


def below(server, free):
    """What admission may fill where a share of M stays free."""
    return floor(server.memory * (1 - Fraction(str(free))))


@settings(max_examples=60)
@given(servers(), st.data())
def test_static(server, data):
    """In batches of whatever classes; classes change nothing."""
    predicted = data.draw(guesses(server))
    kind = data.draw(st.tuples(*[st.integers(0, 1)] * len(predicted)))
    more = {"predicted": predicted, "class_of": kind, "classes": ("short", "long")}
    check("static", server, bare_policies.static(predicted), {}, **more)


@settings(max_examples=60)
@given(servers(), shares, st.integers(2, 10), st.integers(0, 5))
def test_alpha_beta(server, alpha, tenths, seed):
    """One uniform number for each that a sweep meets."""
    params = {"alpha": alpha, "beta": tenths / 10, "seed": seed}
    decide = bare_policies.alpha_beta(below(server, alpha), tenths / 10, seed)
    try:
        check("alpha-beta", server, decide, params)
    except Endless:  # sweeps that happen to clear alike again and again
        assume(False)


@settings(max_examples=60)
@given(servers(), st.integers(1, 6), st.integers(1, 12), sixty_fourths, st.booleans())
def test_fastserve(server, quantum, starved, transfer, is_long):
    """Levels skipped, used up and left after a starvation; also with prompts of thousands."""
    if is_long:
        server.prompt = [512 * s + s % 2 for s in server.prompt]
        server.memory *= 513
    params = {"quantum": quantum, "starved": starved, "transfer": transfer}
    decide = bare_policies.fastserve(quantum, starved, transfer)
    check("fastserve", server, decide, params)


@settings(max_examples=60)
@given(servers(), st.data(), shares, sixty_fourths)
def test_complementary(server, data, margin, transfer):
    """Pairs, and swaps where predictions were short."""
    predicted = data.draw(guesses(server))
    decide = bare_policies.complementary(predicted, below(server, margin), transfer)
    params = {"margin": margin, "transfer": transfer}
    check("complementary", server, decide, params, predicted=predicted)


@settings(max_examples=60)
@given(servers(), st.data(), st.integers(0, 4), quarters, shares)
def test_wait(server, data, threshold, max_wait, margin):
    """Types by class or by length, groups as asked for or from the fluid."""
    predicted = data.draw(guesses(server))
    kind = data.draw(st.tuples(*[st.integers(0, 1)] * len(predicted)))
    types = bare_groups.types(server.prompt, predicted, list(kind))
    try:
        sizes = bare_groups.group_sizes(server, predicted, types)
    except bare_groups.Borderline:
        assume(False)
    if threshold:
        sizes = dict.fromkeys(sizes, threshold)
    decide = bare_groups.wait(predicted, types, sizes, max_wait, below(server, margin))
    params = {"threshold": threshold, "max_wait": max_wait, "margin": margin}
    classes = {"class_of": kind, "classes": ("short", "long")} if any(kind) else {}
    assume(not any(kind) or len(set(kind)) == 2)
    check("wait", server, decide, params, predicted=predicted, **classes)


@settings(max_examples=60)
@given(servers(), st.integers(1, 6), st.integers(1, 5), quarters)
def test_nested_wait(server, segments, group, max_wait):
    """Gates that cut the longest output, and groups that shrink."""
    try:
        places, sizes = bare_groups.gates(server.output, segments, group)
    except bare_groups.Borderline:
        assume(False)
    decide = bare_groups.nested_wait(places, sizes, group, max_wait)
    params = {"segments": segments, "group": group, "max_wait": max_wait}
    check("nested-wait", server, decide, params)


@settings(max_examples=150)
@given(servers(), st.integers(1, 9), st.integers(1, 9))
def test_groups_have_the_same_sizes(server, segments, group):
    """Those of WAIT by the fluid, and those of its gates."""
    workload = Workload(server.arrival, server.prompt, server.output)
    clock = ROUNDS if server.step is None else seconds_clock(*server.step)
    kind = bare_groups.types(server.prompt, server.output, [0] * len(server.output))
    try:
        sizes = bare_groups.group_sizes(server, server.output, kind)
        places, at_gates = bare_groups.gates(server.output, segments, group)
    except bare_groups.Borderline:
        assume(False)
    types = types_of(workload)
    in_order = thresholds(workload, types, server.memory, clock)
    assert [int(in_order[t]) for t in types] == [sizes[k] for k in kind]
    at, size = gates_at(workload.output, segments, group)
    assert (at[:-1].tolist(), size[:-1].tolist()) == (places, at_gates)


def chosen_by(key, server):
    """A function of (waiting, outputs) that chooses the next batch."""

    def choose(waiting, output):
        if key == "sorted-f-swap":
            return bare_batches.local_search(waiting, server.prompt, output, server.memory)
        size = [s + o for s, o in zip(server.prompt, output, strict=True)]
        return bare_batches.least_f(waiting, output, size, server.memory)

    return choose


@pytest.mark.parametrize("key", ["sorted-f", "sorted-f-exact", "sorted-f-swap"])
@settings(max_examples=40)
@given(server=servers(), data=st.data(), skip=st.integers(0, 3), margin=shares)
def test_sorted_f(key, server, data, skip, margin):
    """Whose batches are the best of all subsets, or what local search reaches."""
    predicted = data.draw(guesses(server))
    line = bare_batches.listed(server, predicted, chosen_by(key, server))
    decide = bare_batches.along(line, predicted, below(server, margin), skip)
    params = {"skip": skip, "margin": margin}
    check(key, server, decide, params, predicted=predicted)


@settings(max_examples=60)
@given(servers(), st.data(), shares)
def test_sorted_f_online(server, data, margin):
    """The best batch of those who wait, again and again."""
    predicted = data.draw(guesses(server))
    choose = chosen_by("sorted-f", server)
    decide = bare_batches.online(predicted, below(server, margin), choose)
    check("sorted-f-online", server, decide, {"margin": margin}, predicted=predicted)


@settings(max_examples=60)
@given(servers(), st.data(), shares)
def test_sorted_f_amin(server, data, margin):
    """Lower bounds below and above the truth, raised where memory ran out."""
    lo = data.draw(guesses(server))
    decide = bare_batches.with_a_min(lo, below(server, margin), chosen_by("sorted-f", server))
    bounds = {"predicted_lo": lo, "predicted_hi": np.maximum(lo, server.output)}
    check("sorted-f-amin", server, decide, {"margin": margin}, **bounds)
