"""Metrics agree with hand-computed numbers, and one more row of their table is everywhere."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine import POLICIES, Choice, Deployment, Experiment, Workload, compare, find_policy, wording
from engine.cli import main
from engine.measure.league import explain_columns, league_table, written_table
from engine.measure.metrics import EVERYWHERE, METRICS, shown_in, summary
from engine.saved import Snapshot, results_of
from engine.saved.snapshot import read_snapshot


@pytest.fixture
def head_of_line():
    """(10, 10), (10, 1), (10, 1) in M = 22 under fcfs: the third waits for the first.

    Round by round the memory is 22, 12, 13, .., 20, then 11.
    """
    workload = Workload([0, 0, 0.5], [10, 10, 10], [10, 1, 1], [0, 1, 1], ("long", "short"))
    return find_policy("fcfs").run(workload, 22)


def test_tokens_a_second_from_the_first_arrival():
    """12 tokens in 10 rounds, whenever the first request comes."""
    for since in (0, 1000):
        workload = Workload(since + np.zeros(2), [1, 1], [10, 2])
        assert summary(find_policy("fcfs").run(workload, 30))["output_tokens_per_time"] == 1.2


def test_summary_by_hand(head_of_line):
    """Every field of the league row."""
    row = summary(head_of_line)
    assert row["total_latency"] == 21.5
    assert row["p50_latency"] == 10
    assert row["p90_latency"] == pytest.approx(10.4)
    assert row["mean_tpot"] == 1
    assert row["makespan"] == 11
    assert row["output_tokens_per_time"] == pytest.approx(12 / 11)
    assert row["peak_memory"] == 22
    assert (row["preemptions"], row["recomputed_tokens"], row["gave_up_kv"]) == (0, 0, False)
    assert {name: part["n"] for name, part in row["classes"].items()} == {"long": 1, "short": 2}
    assert row["classes"]["short"]["mean_latency"] == 5.75
    assert row["classes"]["short"]["mean_tpot"] is None


def test_metrics_react_to_a_bad_policy():
    """Largest volume first is much worse than smallest first on a mixed backlog."""
    lengths = np.array([5, 80] * 50)
    workload = Workload(np.zeros(100), lengths, lengths)
    means = {key: summary(POLICIES[key].run(workload, 400))["mean_latency"] for key in
             ("svf", "reverse")}  # fmt: skip
    assert means["reverse"] > 1.5 * means["svf"]


@pytest.fixture
def compared():
    """Two policies on thirty requests of two classes."""
    lengths = np.array([2, 9] * 15)
    workload = Workload(np.arange(30.0), lengths, lengths, [0, 1] * 15, ("short", "long"))
    return compare(Experiment(workload, Deployment(20), (Choice("svf"), Choice("vllm"))))


@pytest.fixture
def before(compared):
    """The results of a view that was saved when there was a metric less."""
    return results_of(compared.league)


@pytest.fixture
def p95(before, monkeypatch):
    """One more row of the table."""
    row = replace(
        METRICS["p90_latency"],
        name="p95_latency",
        title="P95",
        means="Within this latency 95 % are finished.",
        of=lambda sample: float(np.percentile(sample.latency, 95)),
    )
    monkeypatch.setitem(METRICS, row.name, row)
    return row


def again(comparison):
    """The league, its numbers computed anew."""
    return compare(comparison.experiment).league


def test_a_new_metric_is_in_the_league(compared, p95):
    """In its CSV unrounded, in words on the page, with its help beside it."""
    entries = again(compared)
    wanted = [np.percentile(entry.run.latency, 95) for entry in entries]
    assert league_table(entries)["p95_latency"].tolist() == wanted
    assert written_table(entries)["P95"].tolist() == [wording.number(value) for value in wanted]
    assert explain_columns("rounds")["P95"] == "Within this latency 95 % are finished. In rounds."


def test_a_new_metric_is_on_the_command_line(p95, tmp_path, capsys):
    """In the JSON of policies and of classes, and in the table."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival,prompt,output,class\n0,5,5,long\n0,5,5,long\n1,1,1,short\n")
    asked = ["simulate", str(path), "-M", "20", "--policy", "svf"]
    assert main([*asked, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["policies"]
    assert row["p95_latency"] == np.percentile([5, 5, 1], 95)
    assert row["classes"]["long"]["p95_latency"] == 5
    assert main(asked) == 0
    assert " P95 " in capsys.readouterr().out


def test_a_new_metric_is_saved(compared, p95):
    """With the results of a view, which comes back with it."""
    entries = again(compared)
    view = Snapshot("Compare", {}, "thirty", {}, results_of(entries))
    _, back = read_snapshot(view.text("today"))
    assert [result["p95_latency"] for result in back.results] == [
        entry.numbers["p95_latency"] for entry in entries
    ]


def test_views_without_a_new_metric_are_still_read(before, p95):
    """They were saved before it was there."""
    old = Snapshot("Compare", {}, "thirty", {}, before)
    assert "p95_latency" not in old.results[0]
    assert read_snapshot(old.text("old"))[1].results == before


def test_metrics_say_what_they_are():
    """Each has a head and a sentence; what a table shows is a number of every run."""
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.means.endswith(".")
        assert set(metric.shown) <= set(EVERYWHERE)
    headings = [metric.heading for metric in METRICS.values()]
    assert len(set(headings)) == len(headings)


def test_metrics_are_written_by_their_kind(head_of_line):
    """Whole tokens, a dash for what nobody has, yes or no."""
    row = summary(head_of_line)
    written = {name: metric.kind.write(row[name]) for name, metric in METRICS.items()}
    assert written["peak_memory"] == "22"
    assert written["mean_latency"] == "7.17"
    assert written["gave_up_kv"] == "no"
    assert METRICS["mean_tpot"].kind.write(row["classes"]["short"]["mean_tpot"]) == "–"
    assert METRICS["output_tokens_per_time"].help("rounds").endswith("In tokens a round.")


def test_class_rows_are_the_metrics_of_classes(head_of_line):
    """Of each class that has requests, in the order of the table; totals are of all together."""
    (of_long, of_short) = summary(head_of_line)["classes"].values()
    names = [name for name, metric in METRICS.items() if metric.by_class]
    assert list(of_long) == list(of_short) == ["n", *names]
    assert "total_latency" not in of_long


def test_a_table_shows_its_own(head_of_line):
    """The league leaves out what only the command line has room for."""
    assert "mean_tpot" in [metric.name for metric in shown_in("terminal")]
    assert "mean_tpot" not in [metric.name for metric in shown_in("league")]
