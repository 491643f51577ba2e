"""A story names what really kept a request out, to the round and the token."""

import numpy as np
from hypothesis import given, settings

from engine import Run, Workload, find_policy
from engine.errors import Livelock
from engine.machine.clock import seconds_clock
from engine.measure.story import in_words, obstacle, tell
from engine.policy import quick_policies
from engine.simulate.look_ahead import look_ahead
from tests.twins import twin
from tests.twins.strategies import instances


def test_story_by_hand():
    """(1, 9) behind (1, 8) in M = 11: in round 8 both hold 9, 7 over; it starts at 7."""
    run = find_policy("fcfs").run(Workload([0, 0], [1, 1], [8, 9]), 11)
    story = tell(run, 1)
    assert (story.seen, story.ahead, story.first_in_line, story.start) == (0, 0, 0, 7)
    assert (story.in_line.full_at, story.in_line.missing) == (8, 7)
    assert story.in_line.finishing == (0,)
    assert story.residencies == ((7, 16, 1),)
    assert tell(run, 0).in_line is None


def test_story_of_those_behind_the_head():
    """The third waits behind the second, which does not fit, although it would fit itself."""
    run = find_policy("fcfs").run(Workload([0, 0, 0], [5, 9, 1], [5, 1, 1]), 10)
    story = tell(run, 2)
    assert run.start.tolist() == [0, 5, 6]
    assert (story.ahead, story.at_sight) == (1, None)
    assert (story.first_in_line, story.in_line.missing) == (5, 2)


def test_story_of_a_preempted_request():
    """Every stay is told with what it prefilled; the obstacle is the very next round."""
    run = find_policy("vllm").run(Workload([0] * 3, [2] * 3, [6] * 3), 12)
    assert tell(run, 1).residencies == ((0, 4, 2), (6, 8, 6))
    waiting = tell(run, 2)
    assert waiting.preempted_at == tuple(end for _, end, _ in waiting.residencies[:-1])


@settings(max_examples=500)
@given(instances())
def test_obstacle_equals_a_walk(instance):
    """At each decision, an obstacle exists exactly when some round would overflow, and by that."""
    workload, memory = instance
    order = workload.ascending(workload.volume)
    run = Run(look_ahead(workload, memory, order))
    rank = np.argsort(order)
    prompt, output = workload.prompt.tolist(), workload.output.tolist()
    for i in range(len(workload)):
        for decision in range(int(np.ceil(workload.arrival[i])), int(run.start[i]) + 1):
            begun = [
                j
                for j in range(len(workload))
                if j != i
                and (run.start[j] < decision or (run.start[j] == decision and rank[j] < rank[i]))
            ]
            over = {
                at: sum(twin.held(prompt[j], run.start[j], output[j], at) for j in begun)
                + prompt[i]
                + at
                - decision
                - memory
                for at in range(decision + 1, decision + output[i] + 1)
            }
            found = obstacle(run, i, decision)
            if max(over.values()) <= 0:
                assert found is None
            else:
                assert found.missing == max(over.values()) == over[found.full_at]


def test_story_by_plans():
    """(1, 9), predicted 4, behind (1, 8), predicted 6, in M = 11.

    In round 4 they would hold 5 + 5 = 10, within M, and later the first alone 7: both start.
    With a margin of a tenth, and 9 tokens to plan with, that is one too many.
    """
    workload = Workload([0, 0], [1, 1], [8, 9], predicted=[6, 4])
    assert find_policy("fcfs").run(workload, 11).start.tolist() == [0, 0]
    run = find_policy("fcfs").run(workload, 11, margin=0.1)
    story = tell(run, 1)
    assert run.start[1] == 5
    assert (story.in_line.decision, story.in_line.full_at, story.in_line.missing) == (0, 4, 1)
    assert "1\u202ftoken over the 9 that the margin leaves of M" in " ".join(in_words(story, run))


def test_story_of_an_outgrown_plan():
    """At 4 the first, predicted 3, is planned for one token more, which is one too many."""
    workload = Workload([0, 4], [1, 6], [8, 1], predicted=[3, 1])
    run = find_policy("fcfs").run(workload, 12)
    assert run.start.tolist() == [0, 8]
    found = tell(run, 1).in_line
    assert (found.full_at, found.missing, found.finishing) == (5, 1, (0,))


def _gives_a_reason(run, i):
    story = tell(run, i)
    told = " ".join(in_words(story, run))
    reasons = ("the memory would have been", "waiting before it in", "held it back")
    return any(reason in told for reason in reasons)


def test_story_of_an_overtaken_request():
    """Nobody is before it at sight and it does not fit; smaller ones pass until it starts."""
    workload = Workload([0, 1, 2], [5, 8, 1], [5, 2, 1])
    run = find_policy("svf").run(workload, 10)
    assert run.start.tolist() == [0, 5, 2]
    told = " ".join(in_words(tell(run, 1), run))
    assert tell(run, 1).overtakers == (2,)
    assert "Had it started at round 1, the memory would have been" in told
    assert "#2 came later and went first, being before it in svf's order." in told


@settings(max_examples=150, deadline=None)
@given(instances(backlog=False))
def test_whoever_waited_gets_a_reason(instance):
    """Under every policy, who starts after the first decision that knows it is told why."""
    workload, memory = instance
    for policy in quick_policies(len(workload)):
        try:
            run = find_policy(policy).run(workload, memory)
        except Livelock:
            continue
        late = np.flatnonzero(run.start > run.seen)
        silent = [i for i in late.tolist() if not _gives_a_reason(run, i)]
        assert not silent, (policy, silent)


def test_story_in_seconds_has_seconds():
    """Where the axis is in seconds, each moment of the run is given on it, with its round."""
    clock = seconds_clock(0.5, 0, 0, 0, 0)
    run = find_policy("fcfs").run(Workload([0, 0], [1, 1], [8, 9]), 11, clock=clock)
    told = " ".join(in_words(tell(run, 1), run)).replace("\u202f", " ")
    assert "the decision at 0 s (round 0) is the first" in told
    assert "Started at 3.50 s (round 7), after 3.50 seconds" in told
    assert "Finished at 8 s (round 16)" in told
