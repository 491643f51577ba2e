"""The command line keeps its contract: JSON on stdout, remarks on stderr, 2 for bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import POLICIES, find_policy, quick_policies, read_trace
from engine.cli import main
from engine.fleet import Deployment

ROOT = Path(__file__).resolve().parents[3]

ROW_FIELDS = {
    "policy", "params", "served", "gave_up", "turned_away", "total_latency", "mean_latency",
    "p50_latency", "p90_latency", "p99_latency", "mean_ttft", "mean_tpot",
    "output_tokens_per_time", "makespan", "peak_memory", "preemptions", "recomputed_tokens",
    "gave_up_kv", "gap", "classes",
}  # fmt: skip


@pytest.fixture
def six(tmp_path):
    """(2, 3) x 6 and one request that needs 20 tokens."""
    path = tmp_path / "six.csv"
    path.write_text("arrival,prompt,output\n" + "0,2,3\n" * 6 + "0,15,5\n")
    return str(path)


def ask(capsys, *arguments):
    """What a successful command prints, as JSON."""
    assert main([*arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_simulate(capsys, six):
    """Every field is there, with the right numbers, and gaps only where a bound covers."""
    result = ask(
        capsys, "simulate", six, "--memory", "10", "--policy", "svf", "--policy", "vllm",
        "--bound", "lp",
    )  # fmt: skip
    assert (result["n"], result["set_aside"], result["memory"]) == (6, 1, 10)
    assert result["clock"] == "rounds"
    svf, vllm = result["policies"]
    assert set(svf) == ROW_FIELDS
    assert (svf["total_latency"], vllm["total_latency"]) == (36, 33)
    assert (vllm["preemptions"], vllm["gave_up_kv"]) == (2, True)
    values = {bound["bound"]: bound["value"] for bound in result["bounds"]}
    assert svf["gap"] == pytest.approx(36 / values["lp"])
    assert vllm["gap"] == pytest.approx(33 / values["lp-preemptive"])
    assert set(result["bounds"][0]) == {
        "bound", "value", "certified", "covers_preemption", "covers_cut_prompts", "method",
    }  # fmt: skip


def test_simulate_without_bound_has_no_gap(capsys, six):
    """No policy named: every quick one; no bound named: gap null."""
    result = ask(capsys, "simulate", six, "--memory", "10")
    assert [row["policy"] for row in result["policies"]] == quick_policies(7)
    assert {row["gap"] for row in result["policies"]} == {None}
    assert result["bounds"] == []


def test_parameters_reach_the_policy(capsys, tmp_path):
    """--param svf.skip=2 lets the small request pass."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival,prompt,output\n0,5,5\n0,9,1\n0,1,1\n")
    result = ask(
        capsys, "simulate", str(path), "--memory", "10", "--policy", "fcfs",
        "--param", "fcfs.skip=1",
    )  # fmt: skip
    assert result["policies"][0]["params"] == {"skip": 1, "margin": 0.0}
    workload, _ = read_trace(path)
    expected = find_policy("fcfs").run(workload, 10, skip=1).latency.sum()
    assert result["policies"][0]["total_latency"] == expected


def test_round_seconds_divides_arrivals(capsys, tmp_path):
    """An arrival at 3 s is one at round 6 when rounds take half a second."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival,prompt,output\n3,5,5\n")
    result = ask(
        capsys, "simulate", str(path), "-M", "10", "--round-seconds", "0.5", "--policy", "fcfs"
    )
    assert result["policies"][0]["makespan"] == 11


def test_per_request(capsys, six, tmp_path):
    """Every row of the trace is in the CSV, with the outcome or the reason."""
    out = tmp_path / "out.csv"
    ask(
        capsys, "simulate", six, "--memory", "10", "--policy", "svf", "--per-request", str(out)
    )  # fmt: skip
    table = pd.read_csv(out)
    assert ",".join(table.columns) == (
        "index,class,arrival,prompt,output,start,first_token,finish,ttft,tpot,preemptions,status"
    )
    assert table["start"].tolist()[:6] == [0, 0, 3, 3, 6, 6]
    assert np.isnan(table["start"][6])
    assert table["status"][6].startswith("set aside")
    ask(capsys, "simulate", six, "--memory", "10", "--per-request", str(out))
    assert pd.read_csv(out)["policy"].nunique() == len(quick_policies(7))


def test_bound(capsys, six):
    """The same JSON without policies; both coverage rows, or only the preemptive one."""
    result = ask(capsys, "bound", six, "--memory", "10", "--method", "lp", "--method", "fluid")
    assert result["policies"] == []
    assert (result["n"], result["set_aside"]) == (6, 1)
    assert {"lp", "lp-preemptive", "fluid"} <= {bound["bound"] for bound in result["bounds"]}
    only = ask(capsys, "bound", six, "--memory", "10", "--method", "lp", "--preemptive")
    assert [bound["bound"] for bound in only["bounds"]] == ["lp-preemptive"]
    default = ask(capsys, "bound", six, "--memory", "10")
    assert {bound["bound"].split("-")[0] for bound in default["bounds"]} == {"fluid"}


def test_generate_round_trips(capsys, tmp_path):
    """What is written is what a scenario draws, again and again."""
    path = tmp_path / "drawn.csv"
    arguments = [
        "generate", "--n", "50", "--mix", "short=3,long=1", "--arrivals", "poisson",
        "--rate", "0.5", "--seed", "7", "-o", str(path),
    ]  # fmt: skip
    assert main(arguments) == 0
    first = path.read_bytes()
    assert main(arguments) == 0
    assert path.read_bytes() == first
    out = capsys.readouterr()
    assert out.out == ""
    assert "50" in out.err
    workload, _ = read_trace(path)
    assert len(workload) == 50
    assert set(workload.classes) == {"short", "long"}


def test_policies_lists_all(capsys):
    """In both forms."""
    rows = ask(capsys, "policies")
    assert [row["policy"] for row in rows] == list(POLICIES)
    assert main(["policies"]) == 0
    assert "svf.skip = 0" in capsys.readouterr().out


def test_table(capsys, six):
    """People get numbers with thousands apart and a gap in percent."""
    assert main(["simulate", six, "--memory", "10", "--policy", "svf", "--bound", "lp"]) == 0
    out = capsys.readouterr().out
    assert "6 requests, 1 set aside, M = 10" in out
    assert "+0.7\u202f%" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "TRACE", "--memory", "0"], "memory M (tokens) must be a whole number from 1"),
        (["simulate", "TRACE", "--memory", "1e30"], "memory M (tokens) must be a whole number"),
        (["simulate", "TRACE", "--memory", "nan"], "memory M (tokens) must be a whole number"),
        (["simulate", "TRACE", "--memory", "ten"], "--memory"),
        (["simulate", "TRACE"], "--memory"),
        (["simulate", "missing.csv", "--memory", "10"], "missing.csv: there is no such file"),
        (["simulate", "TRACE", "--memory", "10", "--policy", "lifo"], "unknown policy lifo"),
        (["simulate", "TRACE", "--memory", "10", "--bound", "magic"], "unknown bound magic"),
        (["simulate", "TRACE", "--memory", "10", "--param", "svf.skip"], "must look like svf.skip"),
        (["simulate", "TRACE", "--memory", "10", "--param", "svf.jump=1"], "no parameter jump"),
        (["simulate", "TRACE", "--memory", "10", "--param", "x.skip=1"], "unknown policy x"),
        (
            ["simulate", "TRACE", "--memory", "10", "--policy", "svf", "--param", "fcfs.skip=1"],
            "fcfs is not among the policies",
        ),
        (["simulate", "TRACE", "--memory", "4"], "no request fits in memory M = 4"),
        (["simulate", "TRACE", "--memory", "10", "--clock", "days"], "--clock"),
        (["simulate", "TRACE", "--memory", "10", "--round-seconds", "0"], "round_seconds"),
        (["simulate", "TRACE", "--memory", "0"], "got 0\n"),
        (["simulate", "TRACE", "--memory", str(10**23)], f"got {10**23}\n"),
        (
            ["simulate", "TRACE", "-M", "10", "--policy", "vllm", "--param", "vllm.watermark=2"],
            "parameter vllm.watermark must be a number from 0 to",
        ),
        (["simulate", "TRACE", "--memory", "10", "--bound", "srpt"], "the bound srpt holds in"),
        (["simulate", "TRACE", "--memory", "10", "--seed", "-1"], "--seed must be a whole number"),
        (["simulate", "TRACE", "--memory", "10", "--seed", "1.5"], "--seed must be a whole number"),
        (
            ["simulate", "TRACE", "--memory", "10", "--per-request", "no/such/folder/x.csv"],
            "cannot write no/such/folder/x.csv: there is no folder no/such/folder",
        ),
        (["simulate", "TRACE", "--memory", "10", "--per-request", "TRACE"], "would overwrite"),
        (["simulate", "TRACE", "--memory", "10", "--per-request", ""], "needs the name of a file"),
        (["simulate", "TRACE", "--memory", "10", "--per-request", "."], "this is a folder"),
        (["bound", "TRACE", "--memory", "10", "--certificate", "TRACE"], "would overwrite"),
        (["bound", "TRACE", "--memory", "10", "--time-limit", "0"], "time limit (seconds) must be"),
        (["bound", "TRACE", "--memory", "10", "--time-limit", "nan"], "time limit (seconds) must"),
        (["bound", "TRACE", "--memory", "10", "--time-limit", "-1"], "time limit (seconds) must"),
        (["generate", "--n", "5", "--horizon", "9", "-o", "x.csv"], "either --n or --horizon"),
        (["generate", "--rate", "0.5", "-o", "x.csv"], "--rate says nothing of backlog arrivals"),
        (
            ["generate", "--arrivals", "poisson", "--period", "9", "-o", "x.csv"],
            "--period says nothing of poisson arrivals",
        ),
        (["generate", "--n", "5", "-o", ""], "needs the name of a file"),
        (["simulate", "/proc/self/mem", "--memory", "10"], "cannot read /proc/self/mem"),
        (["bound", "TRACE", "--memory", "10", "--method", "magic"], "unknown bound magic"),
        (["generate", "--mix", "short", "-o", "x.csv"], "mix must look like"),
        (["generate", "--n", "0", "-o", "x.csv"], "n must be a whole number from 1"),
        (["generate", "--rate", "-1", "-o", "x.csv"], "rate must be a number"),
        (["teleport"], "teleport"),
        ([], "COMMAND"),
    ],
)
def test_bad_input(capsys, monkeypatch, six, arguments, message):
    """One line on stderr, nothing on stdout, exit 2; and no policy was run for it."""
    monkeypatch.setattr(Deployment, "run", never)
    arguments = [six if word == "TRACE" else word for word in arguments]
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1


def never(*_, **__):
    raise AssertionError("all input is checked before anything is run")


def test_seed_is_for_every_policy_that_draws(capsys, six):
    """--param goes before it, and policies without a seed do not mind."""
    asked = ["simulate", six, "-M", "10", "--seed", "7", "--policy"]
    result = ask(capsys, *asked, "alpha-beta", "--policy", "svf")
    assert [row["params"].get("seed") for row in result["policies"]] == [7, None]
    result = ask(capsys, *asked, "alpha-beta", "--param", "alpha-beta.seed=3")
    assert result["policies"][0]["params"]["seed"] == 3


def test_a_log_on_the_wall_clock_is_remarked(capsys, tmp_path):
    """Its seconds are taken for rounds unless the user says how long a round lasts."""
    log = tmp_path / "azure.csv"
    log.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:17:03.9799600,5,4\n2023-11-16 18:17:09.9799600,5,4\n"
    )
    asked = ["simulate", str(log), "-M", "20", "--policy", "svf"]
    assert main(asked) == 0
    assert "a round is taken to last 1 s" in capsys.readouterr().err
    assert main([*asked, "--round-seconds", "0.05"]) == 0
    assert "a round is taken" not in capsys.readouterr().err


def command(*arguments, **options):
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments], cwd=ROOT, text=True,
        stderr=subprocess.PIPE, check=False, **options,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_said():
    """Exit 2 and one sentence, no traceback."""
    with open("/dev/full", "w") as full:
        said = command("policies", stdout=full)
    assert said.returncode == 2
    assert "No space left" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_reader_that_stops_early_is_no_error():
    """As `head` does."""
    reader, writer = os.pipe()
    os.close(reader)
    said = command("policies", stdout=writer)
    os.close(writer)
    assert (said.returncode, said.stderr) == (0, "")


def test_an_interrupt_is_quiet(capsys, monkeypatch, six):
    """Exit 130, as shells have it."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Deployment, "run", interrupted)
    assert main(["simulate", six, "-M", "10", "--policy", "svf"]) == 130
    assert capsys.readouterr().err == ""


def test_the_first_compilation_is_announced(tmp_path, six):
    """Once, on stderr; the second time all kernels are in the cache. No banner of a solver."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    asked = ["simulate", six, "-M", "10", "--policy", "svf"]
    first, second = (command(*asked, stdout=subprocess.PIPE, env=env) for _ in range(2))
    assert first.stderr == f"compiling the engine (first use)\n{second.stderr}"
    assert "compiling" not in second.stderr
    assert second.stdout == first.stdout
    assert "HiGHS" not in command("bound", six, "-M", "10", "--method", "lp").stderr


def test_azure_trace_loses_nothing(capsys, shared):
    """All 19,366 requests of the real conversation trace run."""
    result = ask(
        capsys, "simulate", str(shared / "traces" / "azure2023_conv.csv"), "--memory", "100000",
        "--policy", "fcfs", "--policy", "svf", "--round-seconds", "0.05",
    )  # fmt: skip
    assert result["n"] + result["set_aside"] == 19_366
    assert [row["policy"] for row in result["policies"]] == ["fcfs", "svf"]
    assert all(row["peak_memory"] <= 100_000 for row in result["policies"])


def test_overload_is_told(tmp_path, capsys):
    """Twice what M carries: a warning on stderr, none where the load is carried."""
    for rate, told in ((0.3, True), (0.02, False)):
        trace = tmp_path / f"{rate}.csv"
        arguments = ["--n", "300", "--arrivals", "poisson", "--rate", str(rate), "-o", str(trace)]
        assert main(["generate", *arguments]) == 0
        assert main(["simulate", str(trace), "-M", "16492", "--policy", "svf"]) == 0
        assert ("svf: Overloaded" in capsys.readouterr().err) == told
