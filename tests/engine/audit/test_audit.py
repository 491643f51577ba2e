"""The audit: windows lose nobody, every window is proved, gaps add up, intervals cover."""

import re
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import (
    Choice,
    Deployment,
    InputError,
    Scenario,
    Workload,
    find_method,
    find_policy,
    generate,
)
from engine.audit import MEASURED, Audit, AuditPlan, RankedSchedule, cut, pick
from engine.audit.interval import ratio_interval
from engine.audit.judge import default_methods
from engine.audit.ranking import headline, where_it_arises
from engine.audit.remarks import remarks
from engine.audit.tables import windows_table
from engine.audit.windows import Window
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import ROUNDS
from engine.machine.hardware import DEFAULT, find_preset
from engine.measure.overload import verdict
from engine.progress import silent
from engine.reports.audit_report import audit_report
from engine.traces import read_requests, read_trace
from tests.twins.strategies import instances

GPU = find_preset(DEFAULT).clock
M = 16_492


def audit_plan(*keys, clock=ROUNDS, memory=M, topology=ONE_SERVER):
    choices = tuple(Choice(key) for key in keys)
    return AuditPlan(Deployment(memory, clock, topology), choices, default_methods(clock))


def audit(windows, plan, in_trace, seed=0, progress=silent, overload=None):
    judged = plan.judge_all(windows, progress)
    return Audit(judged, in_trace, plan.deployment.unit, seed, overload=overload)


def day(n=400, rate=0.12, seed=1):
    return generate(Scenario(n=n, arrivals="poisson", rate=rate, seed=seed))


@given(instances(max_n=20), st.integers(1, 25))
def test_windows_part_the_requests_that_fit(instance, requests):
    """Each is in one window, windows follow in time, and no moment is in two."""
    workload, memory = instance
    memory = max(int(workload.peak.min()), memory // 2)
    windows = cut(workload, memory, requests)
    fits = workload.row[workload.peak <= memory]
    rows = np.concatenate([window.workload.row for window in windows])
    assert sorted(rows) == sorted(fits)
    for before, after in pairwise(windows):
        assert before.workload.arrival.max() < after.workload.arrival.min() == before.end
        assert after.begin == before.end
    assert [window.number for window in windows] == list(range(len(windows)))


def test_windows_are_about_as_large_as_asked():
    """1,000 requests in windows of 300: three of 333 or 334."""
    sizes = [len(window.workload) for window in cut(day(1000), M, 300)]
    assert sum(sizes) == 1000
    assert set(sizes) == {333, 334}


def test_a_burst_is_not_cut():
    """A backlog is one window, whatever was asked."""
    (window,) = cut(generate(Scenario(n=50)), M, 10)
    assert len(window.workload) == 50


def test_measured_latencies_stay_with_their_requests():
    """Also where rows are out of order and some requests do not fit."""
    arrival = np.array([5.0, 1.0, 3.0, 0.0, 4.0])
    workload = Workload(arrival, [1, 9, 1, 1, 1], [1, 9, 1, 1, 1])
    windows = cut(workload, 10, 2, measured=100 + arrival)
    for window in windows:
        assert window.measured.tolist() == (100 + window.workload.arrival).tolist()
    assert sum(len(window.workload) for window in windows) == 4


def test_closed_loop_is_refused():
    """Its arrivals depend on the policy."""
    with pytest.raises(InputError, match="closed loop"):
        cut(replace(day(20), concurrency=4), M)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_sample_takes_one_window_of_each_part(count, most, seed):
    """In order, without repetition, everywhere in the trace."""
    windows = [Window(number, 0.0, 1.0, None) for number in range(count)]
    chosen = [window.number for window in pick(windows, most, seed)]
    assert len(chosen) == min(most, count)
    assert chosen == sorted(set(chosen))
    if most < count:
        borders = np.arange(most + 1) * count // most
        assert np.searchsorted(borders, chosen, side="right").tolist() == list(range(1, most + 1))


def test_interval_covers_the_truth_about_as_often_as_it_says():
    """Of 300 samples of 30 windows, 95 % intervals hold the true ratio in 88 to 99 %."""
    rng = np.random.default_rng(5)
    held = 0
    for seed in range(300):
        bound = rng.gamma(4, 25, 30)
        cost = bound * (1 + rng.gamma(2, 0.1, 30))  # 1.2 on average
        low, high = ratio_interval(cost, bound, seed)
        held += low <= 1.2 <= high
    assert 0.88 <= held / 300 <= 0.99


def test_interval_of_equal_windows_is_a_point():
    """And one window says nothing of others."""
    low, high = ratio_interval(np.full(5, 12.0), np.full(5, 10.0))
    assert low == high == pytest.approx(1.2)
    assert ratio_interval(np.array([12.0]), np.array([10.0])) is None


@pytest.mark.parametrize("clock", [ROUNDS, GPU], ids=["rounds", "seconds"])
def test_gap_is_total_cost_over_total_bound(clock):
    """Recomputed from runs and bounds of each window by hand; every window certified."""
    workload = day(300) if clock.is_rounds else day(300, rate=2.0)
    windows = cut(workload, M, 100)
    found = audit(windows, audit_plan("svf", "vllm", clock=clock), len(windows))
    for ranked in found.ranking:
        cost = bound = 0.0
        for window in windows:
            run = find_policy(ranked.policy).run(window.workload, M, clock=clock)
            rows = [
                row
                for method in default_methods(clock)
                for row in find_method(method).bounds(window.workload, M, clock=clock)
            ]
            cost += run.latency.sum()
            bound += max(row.value for row in rows if row.covers(run))
        assert ranked.certified
        assert ranked.gap == pytest.approx(cost / bound, rel=1e-4)
        assert ranked.gap >= 1
        low, high = ranked.interval
        assert low <= ranked.gap <= high


def test_bounds_of_windows_hold_for_one_long_run():
    """What is claimed of measured schedules: a window's share of a whole run is above its bound."""
    workload = day(400, rate=0.2)
    run = find_policy("svf").run(workload, M)
    windows = cut(workload, M, 50, measured=run.latency)
    for window in windows:
        finding = audit_plan().judge(window).findings[MEASURED]
        assert finding.cost >= finding.bound.value


def test_measured_schedule_is_audited_against_bounds_for_every_run():
    """Only those with a measured latency count, on both sides."""
    workload = day(200, rate=2.0)
    run = find_policy("vllm").run(workload, M, clock=GPU)
    measured = np.where(np.arange(200) % 3 == 0, np.nan, run.latency)
    windows = cut(workload, M, 100, measured)
    found = audit(windows, audit_plan("svf", clock=GPU), len(windows))
    (ranked,) = [one for one in found.ranking if one.policy == MEASURED]
    assert found.judged_schedule() is ranked
    assert ranked.cost == pytest.approx(np.nansum(measured))
    assert sum(finding.requests for finding in ranked.findings) == np.isfinite(measured).sum()
    assert ranked.every_run
    assert ranked.gap > 1
    assert "The measured schedule was at most" in headline(found, ranked)


def test_a_server_faster_than_its_model_is_told():
    """Latencies below the bound mean that the coefficients are wrong."""
    workload = day(60, rate=2.0)
    found = audit(cut(workload, M, 60, np.full(60, 1e-3)), audit_plan(clock=GPU), 1)
    assert "Calibrate" in headline(found, found.judged_schedule())


def test_more_replicas_lower_the_bound():
    """A fleet is judged against the bound for so many servers."""
    windows = cut(day(100, rate=0.3), M, 100)
    one = audit(windows, audit_plan("svf"), 1).ranking[0]
    two = audit(windows, audit_plan("svf", topology=Topology(2)), 1).ranking[0]
    assert two.bound < one.bound
    assert two.gap >= 1


def test_a_policy_that_cannot_go_on_is_told_and_has_no_gap():
    """The others keep theirs."""
    stuck = Workload(np.zeros(2), [1, 1], [8, 8])
    choices = (Choice.of("alpha-greedy", {"alpha": 0.0}), Choice("svf"))
    how = AuditPlan(Deployment(10), choices, ("fluid",))
    found = audit(cut(stuck, 10, 2), how, 1)
    by_policy = {ranked.policy: ranked for ranked in found.ranking}
    assert by_policy["svf"].gap >= 1
    assert by_policy["alpha-greedy"].gap is None
    assert "livelock" in by_policy["alpha-greedy"].failed


def test_where_the_gap_arises():
    """A jam in one of four windows is named."""
    arrival = np.concatenate([np.arange(10) * 100.0, 1000 + np.zeros(10), 2000 + np.arange(20)])
    windows = cut(Workload(arrival, [10] * 40, [10] * 40), 40, 10)
    found = audit(windows, audit_plan("reverse", memory=40), len(windows))
    told = where_it_arises(found, found.ranking[0])
    worst = max(
        zip(found.judged, found.ranking[0].findings, strict=True), key=lambda p: p[1].excess
    )
    assert found.when(worst[0].begin) in told


def test_remarks_say_what_is_left_out():
    """Empty server, few windows, one window."""
    windows = cut(day(90), M, 30)
    found = audit(windows, audit_plan("svf"), 3)
    told = " ".join(remarks(found, found.ranking[0]))
    assert "3 of 3 windows" in told
    assert "empty server" in told
    assert "few windows" in told
    alone = Audit(found.judged[:1], 3, "rounds")
    assert "no interval" in " ".join(remarks(alone, alone.ranking[0]))


def test_threshold_goes_by_the_interval():
    """Above only where all of it is; without one, by the gap."""
    windows = cut(day(90), M, 30)
    ranked = audit(windows, audit_plan("reverse"), 3).ranking[0]
    low, _ = ranked.interval
    assert ranked.is_above(100 * (low - 1) - 0.1)
    assert not ranked.is_above(100 * (low - 1) + 0.1)
    alone = RankedSchedule("x", "svf", ranked.findings, None)
    assert alone.is_above(100 * (alone.gap - 1) - 0.1)
    assert not alone.is_above(100 * (alone.gap - 1) + 0.1)


def test_progress_rises_and_can_stop():
    """From 0 towards 1; a report that raises ends the audit."""
    windows, seen = cut(day(90), M, 30), []
    audit(windows, audit_plan("svf", "fcfs"), 3, progress=lambda share, told: seen.append(share))
    assert seen == sorted(seen)
    assert 0 <= seen[0] < seen[-1] < 1

    def stop(share, told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(windows, audit_plan("svf"), 3, progress=stop)


def test_same_seed_same_audit():
    """Bounds are counted work, draws are seeded."""
    windows = pick(cut(day(200), M, 20), 4, seed=3)
    first, second = (audit(windows, audit_plan("svf", "vllm"), 10, seed=3) for _ in range(2))
    assert [one.interval for one in first.ranking] == [one.interval for one in second.ranking]


def test_report_is_one_file():
    """plotly once, no link to elsewhere, every schedule and window, text escaped."""
    windows = cut(day(90), M, 30)
    found = audit(windows, audit_plan("svf", "vllm"), 3)
    html = audit_report("<b>mine</b>.csv", found, found.judged_schedule())
    assert html.count("plotly.js v") == 1
    assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="http', html)
    assert "<b>mine</b>" not in html
    assert html.count('class="plotly-graph-div"') == 2
    assert "<td>svf</td>" in html
    assert "95 % interval" in html


def test_azure_conversation_trace(shared):
    """39 windows, all certified, within a minute; svf nearer than vllm in each."""
    workload, _ = read_trace(shared / "traces" / "azure2023_conv.csv", round_seconds=0.05)
    windows = cut(workload, M)
    assert sum(len(window.workload) for window in windows) == 19_366
    begun = time.monotonic()
    found = audit(windows, audit_plan("vllm", "svf"), len(windows))
    assert time.monotonic() - begun < 60
    vllm, svf = found.judged_schedule("vllm"), found.judged_schedule("svf")
    assert len(found.judged) == 39
    assert vllm.certified
    assert svf.certified
    assert 1.10 < svf.gap < 1.20
    assert 1.9 < vllm.gap < 2.5
    assert all(a.gap > b.gap for a, b in zip(vllm.findings, svf.findings, strict=True))


def test_azure_conversation_trace_in_seconds(shared):
    """A sample of windows on the seconds clock, two replicas, certified too."""
    requests, _ = read_requests(shared / "traces" / "azure2023_conv.csv")
    workload = Workload(requests.seconds, requests.prompt, requests.output)
    windows = cut(workload, M)
    how = audit_plan("vllm", "svf", clock=GPU, topology=Topology(2))
    found = audit(pick(windows, 4), how, len(windows))
    assert all(ranked.certified for ranked in found.ranking)
    assert [ranked.policy for ranked in found.ranking] == ["svf", "vllm"]


@pytest.mark.parametrize(("rate", "too_much"), [(0.6, True), (0.04, False)])
def test_overload_of_the_whole_trace_stands_above_the_number(rate, too_much):
    """Windows begin empty; the need of the whole trace over its span is told before any gap."""
    workload = day(300, rate=rate)
    how = audit_plan("svf", "vllm")
    need = workload.volume.sum() / M / np.ptp(workload.arrival)
    windows = cut(workload, M, 100)
    found = audit(windows, how, len(windows), overload=how.overload(workload))
    assert (need > 1) == too_much == (found.overload is not None)
    told = headline(found, found.judged_schedule())
    assert told.startswith("Overloaded (the requests need") == too_much
    assert ("No policy carries that" in " ".join(remarks(found, found.ranking[0]))) == too_much
    if too_much:
        assert found.overload.load == pytest.approx(need)
        run = find_policy("svf").run(workload, M)
        assert verdict(run).load == pytest.approx(need)


def test_a_bound_far_from_every_schedule_is_called_loose():
    """Where no schedule comes near, nobody knows whose the gap is; where one does, it is not."""
    windows = cut(day(90), M, 30)
    found = audit(windows, audit_plan("svf"), 3)
    near, one = found.ranking[0], found.ranking[0].findings[0]
    assert "loose" not in headline(found, near)
    slow = replace(one, cost=4 * one.bound.value)
    far = Audit((replace(found.judged[0], findings={"svf": slow}),), 3, "rounds")
    assert "(the bound may be loose)" in headline(far, far.ranking[0])
    assert "being loose" in " ".join(remarks(far, far.ranking[0]))


def test_a_window_at_one_moment_says_so():
    """A backlog has no span of arrivals."""
    found = audit(cut(Workload([0, 0], [1, 1], [8, 8]), 10), audit_plan("svf", memory=10), 1)
    (row,) = windows_table(found, found.ranking[0]).to_dict("records")
    assert row["Arrivals"] == "all at once, at 0\u202frounds"
