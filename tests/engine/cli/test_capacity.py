"""`capacity` and `sweep` say what the engine says, in both formats; bad input exits with 2."""

import json

import numpy as np
import pytest

from engine import Choice, Deployment, Scenario, Workload, find_policy, generate
from engine.capacity.draws import Draws
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.cli import main
from engine.machine.hardware import find_preset
from engine.measure.slo import Slo
from engine.traces import write_csv

HARDWARE = ["--clock", "seconds", "--hardware", "llama-2-70b-a100-tp4"]
USUAL = ["--memory", "16492", "--n", "300", "--rate", "1.6", *HARDWARE, "--policy", "svf"]


def ask(capsys, *arguments):
    assert main([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_capacity_is_the_engines(capsys):
    """Rate, interval, seeds, servers and costs."""
    told = ask(
        capsys, "capacity", *USUAL, "--slo-ttft", "10", "--slo-ttft", "short=8", "--load", "4",
        "--seeds", "2", "--price", "2",
    )  # fmt: skip
    draws = Draws(Scenario(n=300, arrivals="poisson", rate=1.6), 2)
    objective = Objective(Slo(ttft=10), (("short", Slo(ttft=8)),))
    clock = find_preset("llama-2-70b-a100-tp4").clock
    found = largest_rate(Choice("svf"), Question(draws, Deployment(16_492, clock), objective))
    (row,) = told["policies"]
    assert (row["rate"], row["low"], row["high"]) == (found.rate, *found.interval)
    assert [seed["carries"] for seed in row["seeds"]] == [b.carries for b in found.borders]
    assert row["cost_per_hour"] == 2 * 4 * row["servers"]
    assert row["cost_per_million_tokens"] > 0
    assert told["limits"] == {"all": {"ttft": 10.0}, "short": {"ttft": 8.0}}
    assert told["answer"].startswith("svf serves ")


def test_capacity_of_pools(capsys):
    """The servers for the load are counted in both pools."""
    told = ask(capsys, "capacity", *USUAL, "--pools", "1:1", "--load", "4", "--seeds", "2")
    (row,) = told["policies"]
    assert sum(row["pools"]) == row["servers"] > 2
    assert f"({row['pools'][0]} that prefill, {row['pools'][1]} that decode)" in told["answer"]
    assert " on two servers, 1 to prefill and 1 to decode (" in told["answer"]


def test_capacity_as_a_table(capsys):
    """The sentence, then one line a policy; what goes with it on stderr."""
    assert main(["capacity", *USUAL, "--policy", "vllm", "--load", "4"]) == 0
    told, remarks = capsys.readouterr()
    assert "for 4 a second" in told
    assert "USD an hour" in told
    assert "95 % interval" in told
    assert [line.split()[0] for line in told.strip().splitlines()[-3:]] == ["policy", "svf", "vllm"]
    assert "USD a million output tokens" in told
    assert "What binds svf is the memory." in remarks


def test_no_rate(capsys):
    """Where limits are missed at every rate it is null, the exit code 0, and a sentence says so."""
    told = ask(capsys, "capacity", "--memory", "16492", "--n", "300", "--rate", "5000",
               "--policy", "svf", "--seeds", "2", "--slo-latency", "1")  # fmt: skip
    assert told["policies"][0]["rate"] is None
    assert told["policies"][0]["verdict"] == "not carried"
    assert "no rate to give" in told["answer"]


SPLIT = ["--mix", "short=0.5,long=0.5", "--n", "400", "--memory", "2000", "--clock", "seconds",
         "--hardware", "llama-3-8b-a100", "--policy", "vllm"]  # fmt: skip


def test_nothing_vanishes_from_capacity(capsys):
    """164 of 400 need more than M: told, and the tokens that are paid for are those served."""
    told = ask(capsys, "capacity", *SPLIT, "--rate", "2", "--seeds", "2", "--load", "2",
               "--price", "3.6")  # fmt: skip
    (row,) = told["policies"]
    assert (told["n"], told["set_aside"], row["set_aside"]) == (400, 164, 164)
    assert row["set_aside_share"] == 0.41
    assert row["cost_per_million_tokens"] == pytest.approx(7.723, abs=0.001)
    shares = [1 / row[f"cost_per_million_{kind}tokens"] for kind in ("", "input_", "total_")]
    assert shares[0] + shares[1] == pytest.approx(shares[2])
    assert any("164 of 400 requests" in remark for remark in told["remarks"])


def test_nothing_vanishes_from_a_sweep(capsys):
    """A smaller memory sets more aside, and every cell and line says how many."""
    knob = ["--rate", "2", "--knob", "memory=2000,4000"]
    small, large = ask(capsys, "sweep", *SPLIT, *knob)["cells"]
    assert (small["set_aside"], small["of"], small["set_aside_share"]) == (164, 400, 0.41)
    assert 0 < large["set_aside"] < 164
    assert main(["sweep", *SPLIT, *knob]) == 0
    assert "41.0\u202f%" in capsys.readouterr().out


def test_nothing_vanishes_from_uncertainty(capsys):
    """Counted over the draws, in JSON, beside the table and in a sentence."""
    arguments = ["uncertainty", *SPLIT, "--draws", "1"]
    told = ask(capsys, *arguments)
    assert (told["n"], told["set_aside"], told["set_aside_share"]) == (236, 164, 0.41)
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "236 requests, 164 set aside" in said.out
    assert "164 of 400 requests (41.0\u202f%)" in said.err


def test_a_rate_above_what_fits_is_remarked(capsys, tmp_path):
    """(6, 1) in M = 10 at 1.04 a round: no two fit together, so simulate says it falls behind."""
    gaps = np.random.default_rng(1).exponential(1 / 1.04, 5000)
    path = str(tmp_path / "excluding.csv")
    write_csv(Workload(np.cumsum(gaps), [6] * 5000, [1] * 5000), path)
    assert main(["simulate", path, "--memory", "10", "--policy", "fcfs"]) == 0
    assert "falls behind" in capsys.readouterr().err


def test_capacity_of_a_trace(capsys, tmp_path):
    """One draw: a rate without an interval."""
    path = str(tmp_path / "mix.csv")
    write_csv(generate(Scenario(n=200, arrivals="poisson", rate=0.05)), path)
    told = ask(capsys, "capacity", path, "--memory", "16492", "--policy", "svf")
    (row,) = told["policies"]
    assert row["rate"] > 0.03
    assert row["low"] is None
    assert told["seeds"] == [0]


def test_sweep_equals_direct_runs(capsys):
    """Every combination of the values, each policy in each."""
    told = ask(
        capsys, "sweep", "--memory", "16492", "--n", "200", "--policy", "svf", "--policy", "vllm",
        "--knob", "memory=9000:20000:3", "--knob", "rate=0.05,0.1",
    )  # fmt: skip
    assert len(told["cells"]) == 12
    assert told["knobs"]["rate"] == [0.05, 0.1]
    for row in told["cells"]:
        workload = generate(Scenario(n=200, arrivals="poisson", rate=row["rate"]))
        run = find_policy(row["policy"]).run(workload, row["memory"])
        assert row["mean_latency"] == run.latency.mean()
        assert row["preemptions"] == run.preemptions.sum()


def test_sweep_as_a_table(capsys):
    """A cell in which nothing fits says so."""
    arguments = ["sweep", "--memory", "16492", "--n", "150", "--policy", "svf"]
    arguments += ["--percentile", "90"]
    assert main([*arguments, "--knob", "memory=2,16492"]) == 0
    told = capsys.readouterr().out
    assert "cannot run" in told
    for column in ("mean latency", "P90 TTFT", "P90 TPOT"):
        assert column in told
    assert "16\u202f492" in told


def test_a_length_above_the_cache_is_remarked(capsys, tmp_path):
    """vLLM does not start so; at the cache's own size it does."""
    path = str(tmp_path / "mix.csv")
    write_csv(Workload([0, 1], [10, 10], [5, 5]), path)
    for length, doubted in ((4096, True), (1000, False)):
        arguments = ["simulate", path, "--memory", "1000", "--policy", "fcfs"]
        assert main([*arguments, "--max-model-len", str(length)]) == 0
        assert ("vLLM does not start" in capsys.readouterr().err) == doubted


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["capacity", *USUAL, "--slo-ttft", "fast"], "--slo-ttft must look like 2.5"),
        (["capacity", *USUAL, "--slo-ttft", "1", "--slo-ttft", "2"], "given twice"),
        (["capacity", *USUAL, "--slo-ttft", "queue=1"], "class queue"),
        (["capacity", *USUAL, "--slo-ttft", "-1"], "SLO on ttft"),
        (["capacity", *USUAL, "--percentile", "0"], "percentile"),
        (["capacity", *USUAL, "--seeds", "0"], "seeds"),
        (["capacity", *USUAL, "--load", "0"], "load"),
        (["capacity", *USUAL, "--price", "-3"], "price"),
        (["capacity", *USUAL, "--concurrency", "3"], "no rate"),
        (["capacity", *USUAL, "--policy", "hindsight"], "stops by the clock"),
        (["capacity", *USUAL, "--param", "vllm.watermark=0.1"], "not among the policies"),
        (["capacity", "--memory", "16492", "--n", "20"], "too few"),
        (["capacity", "--memory", "16492", "--arrivals", "backlog"], "invalid choice"),
        (["capacity", "absent.csv", "--memory", "16492", "--rate", "2"], "for a mix"),
        (["sweep", *USUAL], "--knob"),
        (["sweep", *USUAL, "--knob", "moon=1"], "unknown knob moon"),
        (["sweep", *USUAL, "--knob", "memory"], "must look like memory=1,2,3"),
        (["sweep", *USUAL, "--knob", "memory=a,b"], "cannot read"),
        (["sweep", *USUAL, "--knob", "memory=1:2"], "cannot read"),
        (["sweep", *USUAL, "--knob", "memory=9:3:4"], "no range"),
        (["sweep", *USUAL, "--knob", "share=200"], "share must be"),
        (["sweep", *USUAL, "--knob", "n=5", "--knob", "n=6"], "given twice"),
        (["sweep", *USUAL, "--knob", "memory=10000:99999:9999", "--knob", "n=5,6"], "cells of the"),
    ],
)
def test_bad_input(capsys, arguments, says):
    """One sentence on stderr, nothing on stdout, exit 2."""
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
    assert "Traceback" not in told.err
