"""A story names what really kept a request out, to the round and the token."""

import numpy as np
import pytest
from hypothesis import given, settings

from engine import Choice, Deployment, Run, Workload, find_policy
from engine.admission_limits import AdmissionLimits
from engine.decisions.account import Reason
from engine.decisions.refusal import (
    AllSequences,
    BatchUnderWay,
    ChunksFull,
    NoGroup,
    OverBatch,
    OverPlan,
    OverReserve,
    OverUse,
    PlannedFor,
    RanOut,
    RoundFull,
)
from engine.fleet import Topology
from engine.machine.clock import seconds_clock
from engine.measure.story import in_words, obstacle, tell
from engine.simulate.look_ahead import look_ahead
from tests.twins import twin
from tests.twins.story_sentences import plain
from tests.twins.strategies import instances


def run_of(key, arrival, prompt, output, memory, **params):
    return find_policy(key).run(Workload(arrival, prompt, output), memory, **params)


def told(run, i):
    return " ".join(plain(sentence) for sentence in in_words(tell(run, i), run))


def test_story_by_hand():
    """(1, 9) behind (1, 8) in M = 11: in round 8 both hold 9, 7 over; it starts at 7."""
    run = run_of("fcfs", [0, 0], [1, 1], [8, 9], 11)
    story = tell(run, 1)
    assert (story.seen, story.start) == (0, 7)
    assert story.at_sight == Reason(0, OverPlan(8, 7, 11, (0,)))
    assert story.at_last == Reason(6, OverPlan(8, 1, 11, (0,)))
    assert tell(run, 0).at_sight is None


def test_story_of_those_behind_the_head():
    """The third waits behind the second, which does not fit, although it would fit itself."""
    run = run_of("fcfs", [0, 0, 0], [5, 9, 1], [5, 1, 1], 10)
    assert run.start.tolist() == [0, 5, 6]
    reason = tell(run, 2).at_sight
    assert (reason.ahead, reason.first, reason.blocker, reason.fitted) == (1, 1, 1, True)
    assert tell(run, 2).at_last.refusal.missing == 2


def test_who_is_passed_over_is_not_who_stops_the_walk():
    """Four (3, 3) in M = 6, skip 1: the walk passes over #1 and stops at #2."""
    story = tell(run_of("fcfs", [0] * 4, [3] * 4, [3] * 4, 6, skip=1), 3)
    assert (story.at_sight.ahead, story.at_sight.first, story.at_sight.blocker) == (2, 1, 2)
    assert story.at_sight.skip == 1


def test_who_is_passed_over_still_stands_before():
    """#3 came before #2, waits from 0 and is passed over until 9: #2 is never next."""
    run = run_of("fcfs", [0, 0, 1, 0], [6, 5, 2, 4], [4, 2, 4, 2], 10, skip=1)
    assert run.start.tolist() == [0, 4, 5, 9]
    last = tell(run, 2).at_last
    assert (last.decision, last.ahead, last.first, last.blocker) == (4, 1, 3, None)
    assert "it was next" not in told(run, 2)


def test_who_was_preempted_stands_at_the_head():
    """vLLM: at round 5 #1, preempted at 2, waits before #2 that has just come."""
    run = run_of("vllm", [0, 0, 5], [3, 3, 2], [6, 3, 4], 10)
    assert tell(run, 2).at_sight == Reason(5, OverUse(9, 6, 10), 1, 1, 1, 0, fitted=False)
    assert "At round 5, #1 was waiting before it in vllm's order." in told(run, 2)
    (loss,) = tell(run, 1).losses
    assert (loss.lost, loss.back, loss.refilled, loss.generated) == (2, 6, 5, 2)
    assert loss.refused == Reason(5, OverUse(9, 6, 10))


def test_a_plan_made_anew_has_no_fixed_order():
    """Sorted-F online takes (1, 7) and then (1, 8): #0 is not who stops others."""
    run = run_of("sorted-f-online", [0] * 3, [1] * 3, [9, 8, 7], 10)
    assert run.start.tolist() == [14, 6, 0]
    reason = tell(run, 0).at_sight
    assert (reason.ahead, reason.first, reason.blocker) == (None, 1, 1)
    assert reason.refusal == OverPlan(7, 6, 10, (2,))
    assert tell(run, 0).at_last == Reason(13, OverPlan(14, 1, 10, (1,)))


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        ("past-future", OverPlan(5, 5, 7, (0,))),
        ("complementary", OverPlan(5, 5, 7, (0,))),
        ("wait", OverPlan(5, 4, 8, (0,))),
        ("a-min", OverPlan(5, 4, 8, (0,))),
        ("sorted-f-amin", OverPlan(5, 4, 8, (0,))),
        ("sorted-f-online", OverPlan(5, 4, 8, (0,))),
        ("orca", OverReserve(6, 6, 4)),
        ("static", OverBatch(2, 5, 4)),
        ("best-found", PlannedFor(4)),
    ],
)
def test_what_each_rule_saw(key, refusal):
    """Two of (1, 5) in M = 8: both at once would hold 12 at their end."""
    assert tell(run_of(key, [0, 0], [1, 1], [5, 5], 8), 1).at_sight.refusal == refusal


def test_the_margin_is_waived_for_one_alone():
    """(1, 9) enters the empty server above the 8 of 11 that plans may fill; then nobody may."""
    run = run_of("fcfs", [0, 0], [1, 1], [9, 2], 11, margin=0.2)
    assert run.start.tolist() == [0, 9]
    assert tell(run, 1).at_sight.refusal == OverPlan(9, 2, 8, (0,), alone=True)
    assert "nobody could start: even so the memory was to be 2 tokens over the 8" in told(run, 1)


def test_what_an_engine_limits():
    """Sequences, a round's tokens with whole prompts and in chunks, memory that ran out."""
    one = run_of("vllm", [0, 0], [1, 1], [2, 2], 20, max_num_seqs=1)
    assert tell(one, 1).at_sight.refusal == AllSequences(1)
    few = run_of("vllm", [0, 0], [5, 4], [2, 2], 20, max_num_batched_tokens=8)
    assert tell(few, 1).at_sight.refusal == RoundFull(8, 5, 4)
    cut = run_of("sarathi", [0, 1, 1], [1, 6, 1], [9, 1, 1], 40, chunk_size=3, watermark=0)
    assert tell(cut, 2).at_sight.refusal == ChunksFull(3, 1)
    assert tell(cut, 1).prefilled == 4
    out = run_of("vllm", [0, 0, 3], [3, 3, 1], [6, 6, 1], 12)
    assert tell(out, 2).at_sight.refusal == RanOut(1, 2)


def test_what_groups_and_batches_wait_for():
    """A batch that nobody joins, a group that is not complete."""
    static = run_of("static", [0, 1], [1, 1], [5, 1], 20)
    assert tell(static, 1).at_sight.refusal == BatchUnderWay(1)
    group = run_of("wait", [0, 4], [1, 1], [2, 2], 20, threshold=2, max_wait=9)
    assert tell(group, 0).at_sight.refusal == NoGroup(1, 2, 9.0)
    nested = run_of("nested-wait", [0, 4], [1, 1], [2, 2], 20, group=2, max_wait=9)
    assert tell(nested, 0).at_sight.refusal == NoGroup(1, 2, 9.0)


def test_who_left_unserved_was_there():
    """#1 blocks #2, which comes at 2, until it gives up just after."""
    door = AdmissionLimits(patience=2)
    workload = Workload([0, 0, 2], [6, 6, 2], [6, 6, 1], admission_limits=door)
    run = find_policy("fcfs").run(workload, 14)
    assert (run.workload.row.tolist(), run.start.tolist()) == ([0, 2], [0, 3])
    reason = tell(run, 1).at_sight
    assert (reason.first, reason.blocker, reason.fitted) == (1, 1, True)


def test_chunks_and_pauses_are_no_losses():
    """A prompt in pieces and a pause at a gate keep their KV cache; a swap moves it."""
    cut = run_of("sarathi", [0], [6], [2], 40, chunk_size=2)
    assert tell(cut, 0).losses == ()
    assert "first token came at round 3" in told(cut, 0)
    paused = run_of("nested-wait", [0, 9], [1, 1], [4, 4], 30, segments=2, group=1, max_wait=5)
    assert tell(paused, 0).losses == ()
    swapped = run_of("vllm", [0, 0], [2, 2], [6, 6], 12, swap=1)
    assert "Swapped out after" in told(swapped, 1)
    assert "prefill" not in told(swapped, 1)
    again = run_of("a-min", [0] * 2, [1] * 2, [5] * 2, 8)
    assert "Lost" not in told(again, 1)


def test_replicas_reserve_what_the_fleet_does():
    """Orca reserves the longest output of all servers on each of them."""
    workload = Workload([0] * 4, [1] * 4, [2, 9, 2, 2])

    run = Deployment(12, topology=Topology(replicas=2)).run(Choice.of("orca"), workload)
    first = run.parts[0]
    assert first.workload.row.tolist() == [0, 2]
    assert tell(first, 1).at_sight.refusal == OverReserve(10, 10, 8)


@settings(max_examples=300)
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
    assert run.start[1] == 5
    assert tell(run, 1).at_sight == Reason(0, OverPlan(4, 1, 9, (), by_plan=True))
    assert "1 token over the 9 that the margin leaves of M" in told(run, 1)


def test_story_of_an_outgrown_plan():
    """At 4 the first, predicted 3, is planned for one token more, which is one too many."""
    workload = Workload([0, 4], [1, 6], [8, 1], predicted=[3, 1])
    run = find_policy("fcfs").run(workload, 12)
    assert run.start.tolist() == [0, 8]
    assert tell(run, 1).at_sight.refusal == OverPlan(5, 1, 12, (0,), by_plan=True)


def test_story_of_an_overtaken_request():
    """Nobody is before it at sight and it does not fit; smaller ones pass until it starts."""
    run = run_of("svf", [0, 1, 2], [5, 8, 1], [5, 2, 1], 10)
    assert run.start.tolist() == [0, 5, 2]
    assert tell(run, 1).overtakers == (2,)
    assert "Had it started at round 1, the memory would have been" in told(run, 1)
    order = "#2 came later and started before it, being before it in svf's order."
    assert order in told(run, 1)


def test_story_in_seconds_has_seconds():
    """Where the axis is in seconds, each moment of the run is given on it, with its round."""
    clock = seconds_clock(0.5, 0, 0, 0, 0)
    run = run_of("fcfs", [0, 0], [1, 1], [8, 9], 11, clock=clock)
    assert "the decision at 0 s (round 0) is the first" in told(run, 1)
    assert "Started at 3.50 s (round 7), after 3.50 seconds" in told(run, 1)
    assert "Finished at 8 s (round 16)" in told(run, 1)


def test_one_of_a_thing_is_called_so():
    """After 1 round, not 1 rounds."""
    run = run_of("fcfs", [0, 0], [1, 1], [1, 1], 3)
    assert "after 1 round of waiting" in told(run, 1)
    assert "latency 1 round." in told(run, 0)
