"""A schedule and what a run makes of it."""

from dataclasses import fields

import numpy as np
import pytest

from engine import Choice, Deployment, InputError, Run, Topology, Workload, find_policy
from engine.admission_limits import AdmissionLimits
from engine.machine.clock import ROUNDS
from engine.progress import Found, silent
from engine.simulate.schedule import Schedule

CROWDED = Workload(
    [0, 0, 1, 1, 2],
    [6, 6, 2, 6, 2],
    [4, 4, 3, 4, 3],
    admission_limits=AdmissionLimits(patience=2, queue_limit=3),
)


def test_a_schedule_is_split_from_its_result():
    """What a policy returns knows nothing of the choice, and those who left are still in it."""
    schedule = Choice("fcfs").schedule(CROWDED, 10, ROUNDS, silent)
    assert not {"choice", "policy", "params", "set_aside"} & {f.name for f in fields(schedule)}
    assert len(schedule.workload) == 5
    assert schedule.left is not None
    served = schedule.served()
    assert served.left is None
    rows = [*served.workload.row, *served.unserved.row]
    assert sorted(rows) == [0, 1, 2, 3, 4]
    assert len(served.unserved)
    assert served.walk.order.tolist() == list(range(len(served.workload)))


def test_a_run_reads_through():
    """Every name that a run and its schedule share says the same."""
    run = find_policy("vllm").run(CROWDED, 10)
    known = {field.name for field in fields(Schedule)} | set(vars(Schedule))
    asked = {name for name in vars(Run) if isinstance(vars(Run)[name], property)}
    shared = asked & known
    assert {"workload", "memory", "replicas", "start", "latency"} <= shared
    for name in shared:
        np.testing.assert_equal(getattr(run, name), getattr(run.schedule, name))


def test_an_order_made_by_hand_has_no_policy():
    """Where there is no choice, there is no policy and there are no parameters."""
    start = np.array([0, 2])
    workload = Workload([0, 0], [1, 1], [2, 2])
    run = Run(Schedule(workload, 3, start, start + 2))
    assert (run.policy, run.params, run.order, run.skip) == ("", {}, None, 0)
    assert run.latency.tolist() == [2, 4]


def test_parts_know_who_left_them():
    """The runs of the replicas have the fleet's choice, and list those who left each."""
    fleet = Deployment(10, topology=Topology(2))
    doubled = CROWDED.take(np.repeat(np.arange(5), 2))
    run = fleet.run(Choice.of("fcfs", {"skip": 1}), doubled)
    assert {part.policy for part in run.parts} == {run.policy}
    assert all(part.params == run.params for part in run.parts)
    lost = sum(len(part.unserved) for part in run.parts)
    assert lost == len(run.unserved) > 0


def test_a_search_tells_of_runs():
    """What a policy finds is a schedule to it, and a run to whoever listens."""
    found = []

    def listen(share, sentence=""):
        found.extend([sentence] if isinstance(sentence, Found) else [])

    workload = Workload([0] * 12, [3, 5, 9] * 4, [2, 7, 4] * 4)
    run = find_policy("best-found").run(workload, 30, progress=listen, seconds=0.1)
    assert {type(story.run) for story in found} == {Run}
    assert {story.run.policy for story in found} == {run.policy}


def test_only_counts_from_its_begin():
    """The requests of one busy period, with their residencies, as if rounds began there."""
    run = find_policy("fcfs").run(Workload([0, 9], [2, 3], [3, 2]), 6)
    later = run.schedule.only(np.array([1]), 9)
    assert later.start.tolist() == [0]
    assert later.finish.tolist() == [2]
    assert later.residencies.held.tolist() == [3]


def test_nobody_served_is_said():
    """The sentence counts who left."""
    gone = Workload([0.5], [1], [1], admission_limits=AdmissionLimits(patience=0.1))
    with pytest.raises(InputError, match="nobody is served: of 1 request 1 gave up"):
        find_policy("fcfs").run(gone, 10)
