"""A film shows what happened, what is planned, and what blocks the first in line."""

import numpy as np
import pytest
from hypothesis import given, settings

from engine import POLICIES, Run, Workload, find_policy
from engine.learn.film import film
from engine.simulate.look_ahead import look_ahead
from tests.twins import twin
from tests.twins.strategies import instances


def held_by(workload, start, who, at):
    """Tokens of these requests at the end of round `at`, by the plain twin."""
    return sum(
        twin.held(int(workload.prompt[i]), int(start[i]), int(workload.output[i]), at) for i in who
    )


@given(instances())
@settings(max_examples=60)
def test_frames_of_a_look_ahead_run(instance):
    """Held and planned tokens are the twin's; the first in line is blocked by what it says."""
    workload, memory = instance
    run = Run(look_ahead(workload, memory, workload.ascending(workload.output)))
    shown = film(run)
    everyone = range(len(workload))
    for t, frame in enumerate(shown.frames):
        assert shown.held[t].sum() == held_by(workload, run.start, everyone, t)
        begun = [i for i in everyone if run.start[i] <= t]
        for k, tokens in enumerate(frame.planned.tolist()):
            assert tokens == held_by(workload, run.start, begun, t + 1 + k)
        assert held_by(workload, run.start, begun, t + 1 + len(frame.planned)) == 0
        late = {i for i in everyone if run.seen[i] <= t < run.start[i]}
        assert set(frame.waiting) == late
        assert (frame.check is None) == (not late)
        if frame.check:
            assert frame.check.head == frame.waiting[0]
            length = max(len(frame.planned), len(frame.check.holds))
            both = np.zeros(length, np.int64)
            both[: len(frame.planned)] += frame.planned
            both[: len(frame.check.holds)] += frame.check.holds
            own = both[: len(frame.check.holds)]
            assert frame.check.obstacle.missing == own.max() - memory > 0
            assert own[frame.check.obstacle.full_at - t - 1] == own.max()


@pytest.mark.parametrize("key", ["vllm", "fastserve", "srpt", "sarathi", "wait"])
@given(instances(max_n=6, fractional=False))
@settings(max_examples=15)
def test_everybody_is_somewhere(key, instance):
    """After its arrival and before its end, a request runs, starts or waits, and only one."""
    workload, memory = instance
    run = find_policy(key).run(workload, memory)
    shown = film(run)
    assert (shown.held.sum(axis=1) <= memory).all()
    for t, frame in enumerate(shown.frames):
        places = [*frame.starting, *frame.running, *frame.waiting]
        alive = np.flatnonzero((run.seen <= t) & (run.finish > t))
        assert sorted(places) == alive.tolist()
        assert set(frame.dropped) == {i for i in frame.waiting if shown.held[t, i]}
        if not run.gave_up_kv:
            assert not frame.dropped


def test_frame_in_words():
    """(1, 9) behind (1, 8) in M = 11 at round 0: 7 over in round 8, when #0 ends."""
    run = POLICIES["fcfs"].run(Workload([0, 0], [1, 1], [8, 9]), 11)
    shown = film(run)
    assert shown.in_words(0) == (
        "After round 0: 0 of 11\u202ftokens in use. #0 starts now. #1 does not fit: it would be "
        "7\u202ftokens over M at the end of round 8, when #0 ends."
    )
    assert shown.in_words(shown.rounds).endswith("All done: total latency 24 rounds.")
