"""Patience, a full queue and max_model_len: nobody is lost from the count, whatever the policy."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    POLICIES,
    Choice,
    InputError,
    Scenario,
    Workload,
    find_method,
    find_policy,
    gap,
    generate,
    wording,
)
from engine.admission_limits import AdmissionLimits
from engine.bound import NO_BOUND
from engine.capacity.objective import Objective
from engine.cli import main
from engine.fleet import ROUTINGS, Deployment, Topology
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.league import league
from engine.measure.metrics import summary
from engine.measure.overload import verdict
from engine.measure.per_request import per_request
from engine.measure.remarks import caveats
from engine.measure.slo import Slo, attainment_table
from engine.memory_curve import memory_curve
from tests.engine.policies.test_laws import params_of, run_if_possible
from tests.engine.simulate.test_clocks import CLOCKS
from tests.twins.strategies import ADMISSION_LIMITS, instances

LENGTHS = st.one_of(st.just(0), st.integers(2, 40))


def counts(run):
    """How many requests ended in each way."""
    gave_up = int(run.unserved.gave_up.sum())
    return len(run.workload), gave_up, len(run.unserved) - gave_up, len(run.set_aside)


def served_by(topology, key, workload, memory, clock):
    """The run; None where nobody is served."""
    try:
        return Deployment(memory, clock, topology).run(Choice(key), workload)
    except InputError:
        return None


def waiting_when(run, workload, moment):
    """How many wait for their first admission once all have come that come by a moment."""
    patience = workload.admission_limits.patience or np.inf
    gave_up = np.isin(workload.row, run.unserved.row[run.unserved.gave_up])
    until = np.where(gave_up, workload.arrival + patience, -np.inf)
    until[np.isin(workload.row, run.workload.row)] = run.started_at
    return int(((workload.arrival <= moment) & (until >= moment)).sum())


@pytest.mark.parametrize("key", POLICIES)
@settings(max_examples=60)
@given(
    instance=instances(max_n=10),
    admission_limits=ADMISSION_LIMITS,
    longest=LENGTHS,
    clock=CLOCKS,
    data=st.data(),
)
def test_everyone_is_accounted_for(key, instance, admission_limits, longest, clock, data):
    """served + gave up + turned away + set aside = n, and each for its reason."""
    open_workload, memory = instance
    workload = replace(
        open_workload, admission_limits=replace(admission_limits, max_model_len=longest)
    )
    policy = find_policy(key)
    run = run_if_possible(policy, workload, memory, clock=clock, **data.draw(params_of(policy)))
    if run is None:
        return
    assert sum(counts(run)) == len(workload)
    rows = [*run.workload.row, *run.unserved.row, *run.set_aside]
    assert sorted(rows) == list(range(len(workload)))
    assert run.too_long == workload.is_too_long.sum()
    if admission_limits.patience:
        assert (run.started_at <= run.workload.arrival + admission_limits.patience).all()
    if admission_limits.queue_limit:
        fitting = workload.take(~np.isin(workload.row, run.set_aside))
        most = max(waiting_when(run, fitting, moment) for moment in fitting.arrival)
        assert most <= admission_limits.queue_limit
        away = np.isin(fitting.row, run.unserved.row[~run.unserved.gave_up])
        full = [waiting_when(run, fitting, moment) for moment in fitting.arrival[away]]
        assert all(count == admission_limits.queue_limit for count in full)
    assert memory_curve(run).peak <= memory
    assert set(per_request(run, workload)["status"]) <= {
        "finished", "gave up", "turned away", "set aside: needs more than M",
        "set aside: longer than max_model_len",
    }  # fmt: skip


PLANNERS = ("best-found", "hindsight")  # of whose plans only the order is kept under limits


@pytest.mark.parametrize("key", [key for key in POLICIES if key not in PLANNERS])
@settings(max_examples=25)
@given(instance=instances(), clock=CLOCKS)
def test_limits_that_nobody_meets_change_nothing(key, instance, clock):
    """Endless patience and a queue for everyone: the run without limits."""
    workload, memory = instance
    generous = replace(workload, admission_limits=AdmissionLimits(1e9, len(workload), 10**9))
    before = run_if_possible(find_policy(key), workload, memory, clock=clock)
    after = run_if_possible(find_policy(key), generous, memory, clock=clock)
    assert (before is None) == (after is None)
    if before is not None:
        assert after.start.tolist() == before.start.tolist()
        assert after.finished_at.tolist() == before.finished_at.tolist()


@settings(max_examples=150)
@given(
    instances(max_n=10),
    ADMISSION_LIMITS,
    st.one_of(
        st.builds(Topology, st.integers(2, 3), st.sampled_from(list(ROUTINGS))),
        st.builds(lambda p, d: Topology(1, "round-robin", (p, d), 0.25), *[st.integers(1, 2)] * 2),
    ),
    st.sampled_from(["svf", "vllm", "sarathi"]),
    st.sampled_from([ROUNDS, seconds_clock(0.5, 0.25)]),
)
def test_fleets_lose_nobody_either(instance, admission_limits, topology, key, clock):
    """Every replica has its own queue; who has been prefilled is decoded."""
    workload, memory = instance
    workload = replace(workload, admission_limits=admission_limits)
    run = served_by(topology, key, workload, memory, clock)
    if run is None:
        return
    assert sum(counts(run)) == len(workload)
    assert all(memory_curve(part).peak <= memory for part in run.parts)
    assert (run.finished_at > run.workload.arrival).all()
    if admission_limits.patience:
        assert (run.started_at <= run.workload.arrival + admission_limits.patience).all()
    assert len(summary(run)["classes"]) == 1


def test_patience_by_hand():
    """Two fill the memory until 8; who came at 1 and waits for 7 is served at 8, the other goes."""
    workload = Workload(
        [0, 0, 0.5, 1], [2] * 4, [8] * 4, admission_limits=AdmissionLimits(patience=7.0)
    )
    run = find_policy("fcfs").run(workload, 20)
    assert run.start.tolist() == [0, 0, 8]
    assert run.unserved.row.tolist() == [2]
    assert run.unserved.in_words() == "1 gave up"


def test_a_queue_by_hand():
    """Room for one who waits: of three that come while two run, the first stays."""
    workload = Workload(
        [0, 1, 2, 3], [2] * 4, [8] * 4, admission_limits=AdmissionLimits(queue_limit=1)
    )
    run = find_policy("svf").run(workload, 10)
    assert run.start.tolist() == [0, 8]
    assert run.unserved.row.tolist() == [2, 3]
    assert run.unserved.in_words() == "2 were turned away"


def test_a_preempted_request_has_been_admitted():
    """Its client has seen a first token and stays, however long it waits to come back."""
    workload = Workload([0, 0], [2, 2], [8, 8], admission_limits=AdmissionLimits(patience=1.0))
    run = find_policy("vllm").run(workload, 12)
    assert run.preemptions.sum() == 1
    assert run.finish.max() > 8
    assert len(run.unserved) == 0


def test_nobody_served_is_an_error():
    """One sentence that says why and what to change."""
    workload = Workload([0.25, 0.5], [2, 2], [3, 3], admission_limits=AdmissionLimits(patience=0.1))
    for topology in (Topology(), Topology(2)):
        with pytest.raises(InputError, match=r"nobody is served: of 2 requests 2 gave up; raise"):
            Deployment(10, topology=topology).run(Choice("svf"), workload)


@pytest.mark.parametrize("key", ["svf", "vllm", "sorted-f-online"])
def test_a_closed_loop_has_patience(key):
    """Its clients wait for their answers: the two do not go together."""
    workload = Workload(
        [0] * 3, [2] * 3, [3] * 3, concurrency=2, admission_limits=AdmissionLimits(patience=5.0)
    )
    with pytest.raises(InputError, match="the clients of a closed loop wait"):
        find_policy(key).run(workload, 10)


def test_too_long_requests_are_set_aside_before_the_run():
    """Counted apart from those that M does not hold; bounds leave them out as well."""
    workload = Workload(
        [0] * 3, [2, 20, 8], [3, 3, 3], admission_limits=AdmissionLimits(max_model_len=10)
    )
    run = find_policy("svf").run(workload, 20)
    assert run.set_aside.tolist() == [1, 2]
    assert run.too_long == 2
    (bound, *_) = find_method("fluid").bounds(workload, 20)
    assert gap(run, [bound]) == 1.0
    with pytest.raises(InputError, match="every request is longer than max_model_len = 4"):
        find_policy("svf").run(
            replace(workload, admission_limits=AdmissionLimits(max_model_len=4)), 20
        )


@pytest.fixture(scope="module")
def crowded():
    return generate(Scenario(n=400, arrivals="poisson", rate=0.4))


def test_no_bound_where_who_is_served_depends_on_the_policy(crowded):
    """The gap is null, and a bound that was asked for says why."""
    impatient = replace(crowded, admission_limits=AdmissionLimits(patience=100.0))
    run = find_policy("svf").run(impatient, 16_492)
    assert len(run.unserved) > 0
    bounds = find_method("fluid").bounds(crowded, 16_492)
    assert gap(run, bounds) is None
    with pytest.raises(InputError, match="who is served depends on the policy"):
        find_method("fluid").bounds(impatient, 16_492)


def test_who_leaves_has_missed_every_limit(crowded):
    """Attainment is of all that came, and a server that loses many carries nothing."""
    run = find_policy("svf").run(
        replace(crowded, admission_limits=AdmissionLimits(patience=100.0)), 16_492
    )
    share = len(run.workload) / 400
    (row,) = attainment_table(league([run], []), Slo(ttft=1e6)).to_dict("records")
    assert row["ttft"] == row["all"] == pytest.approx(share)
    assert not Objective(percent=99).met_by(run)
    assert verdict(run).kind == "sheds load"
    assert wording.percent(len(run.unserved) / 400) in verdict(run).in_words()


def test_the_league_says_whose_latencies_they_are(crowded):
    """One sentence with the counts, by policy."""
    workload = replace(
        crowded,
        admission_limits=AdmissionLimits(patience=100.0, queue_limit=50, max_model_len=4000),
    )
    runs = [find_policy(key).run(workload, 16_492) for key in ("svf", "vllm")]
    told = " ".join(caveats(league(runs, [])))
    for run in runs:
        assert f"{run.unserved.in_words()} under {run.policy}" in told
    assert "Latencies are of those served" in told
    assert "longer than max_model_len and are set aside" in told


def test_command_line(tmp_path, capsys):
    """Counts in JSON and table, status in the CSV, a remark, and no gap."""
    trace, rows = tmp_path / "trace.csv", tmp_path / "rows.csv"
    trace.write_text("arrival,prompt,output\n0,2,8\n1,2,8\n2,2,8\n3,2,8\n4,9,9\n")
    admission_limits = ["--patience", "9", "--queue-limit", "2", "--max-model-len", "12"]
    given = [
        "simulate",
        str(trace),
        "-M",
        "10",
        "--policy",
        "svf",
        "--bound",
        "fluid",
        *admission_limits,
    ]
    assert main([*given, "--format", "json", "--per-request", str(rows)]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    row = result["policies"][0]
    assert (result["n"], result["set_aside"], result["too_long"]) == (4, 1, 1)
    assert (row["served"], row["gave_up"], row["turned_away"]) == (2, 1, 1)
    assert row["gap"] is None
    assert result["bounds"] == []
    assert NO_BOUND in said.err
    assert "1 gave up and 1 were turned away under svf. Latencies are of those served" in said.err
    assert result["remarks"] == said.err.splitlines()
    status = [line.rsplit(",", 1)[1] for line in rows.read_text().splitlines()[1:]]
    assert status == [
        "finished", "finished", "gave up", "turned away", "set aside: longer than max_model_len"
    ]  # fmt: skip
    assert main(given) == 0
    assert "turned away" in capsys.readouterr().out
    assert main(["simulate", str(trace), "-M", "10", "--patience", "-1"]) == 2
    assert "patience must be a number from 0" in capsys.readouterr().err
