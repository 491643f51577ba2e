"""`audit` and `calibrate` on the command line: their JSON, exit codes and reports."""

import json

import pytest

from engine import Scenario, find_policy, generate
from engine.cli import main
from engine.database import StoredRows, connected
from engine.machine.clock import seconds_clock
from engine.machine.hardware import find_preset
from engine.machine.own_presets import own_presets
from engine.traces import write_csv
from tests.services.benchmark_result import benchmark_result

COEFFICIENTS = "c0=0.03,c1=0.00012,N0=128,c2=4e-8,c3=3e-5"
CLOCK = seconds_clock(0.03, 0.00012, 128, 4e-8, 3e-5)


@pytest.fixture
def trace(tmp_path):
    """300 requests of the default mix that overload M."""
    path = tmp_path / "day.csv"
    write_csv(generate(Scenario(n=300, arrivals="poisson", rate=0.3)), path)
    return path


@pytest.fixture
def result(tmp_path):
    """A vllm run as its benchmark would have seen it."""
    workload = generate(Scenario(n=250, arrivals="poisson", rate=2.0))
    path = tmp_path / "bench.json"
    run = find_policy("vllm").run(workload, 16_492, clock=CLOCK)
    path.write_text(json.dumps(benchmark_result(run)))
    return path


def call(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_json(trace, capsys):
    """Windows with bound, cost, gap and proof, the totals, and whose gap is judged."""
    code, out, _ = call(
        capsys, "audit", trace, "-M", 16492, "--policy", "fcfs", "--policy", "svf",
        "--window-requests", 100, "--format", "json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert (found["n"], found["set_aside"], found["windows_in_trace"]) == (300, 0, 3)
    assert found["judged"] == "fcfs"
    assert found["certified"] is True
    assert len(found["windows"]) == 6
    for row in found["windows"]:
        assert row["certified"] is True
        assert row["gap"] == pytest.approx(row["cost"] / row["bound"])
        assert row["begin"] <= row["end"]
    for total in found["policies"]:
        rows = [row for row in found["windows"] if row["policy"] == total["policy"]]
        assert total["gap"] == pytest.approx(
            sum(row["cost"] for row in rows) / sum(row["bound"] for row in rows)
        )
        assert total["interval"][0] <= total["gap"] <= total["interval"][1]


def test_threshold_is_an_exit_code(trace, capsys):
    """1 where the interval lies above it, 0 where it does not."""
    words = ("audit", trace, "-M", 6000, "--policy", "reverse", "--window-requests", 100)
    assert call(capsys, *words, "--threshold", 0.1)[0] == 1
    assert call(capsys, *words, "--threshold", 5000)[0] == 0


def test_table_and_report(trace, tmp_path, capsys):
    """The sentence, the tables; the report is written."""
    report = tmp_path / "report.html"
    code, out, err = call(
        capsys, "audit", trace, "-M", 16492, "--policy", "svf", "--window-requests", 100,
        "--windows", 2, "--report", report,
    )  # fmt: skip
    assert code == 0
    assert "svf is at most" in out
    assert "2 of 3 windows were judged" in err
    assert report.read_text().startswith("<!doctype html>")


def test_measured_latencies_are_judged_in_seconds(result, capsys):
    """A vllm run audited from its benchmark has the gap of the run; in rounds it is left out."""
    words = ("audit", result, "-M", 16492, "--policy", "vllm", "--window-requests", 1000)
    code, out, _ = call(
        capsys, *words, "--clock", "seconds", "--coefficients", COEFFICIENTS, "--format", "json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["judged"] == "measured"
    by_policy = {row["policy"]: row for row in found["windows"]}
    assert by_policy["measured"]["cost"] == pytest.approx(by_policy["vllm"]["cost"], rel=1e-6)
    _, out, err = call(capsys, *words, "--format", "json")
    assert json.loads(out)["judged"] == "vllm"
    assert "seconds only" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--window-requests", "0"), "requests a window"),
        (("--windows", "0"), "windows must be"),
        (("--threshold", "-1"), "--threshold"),
        (("--policy", "lifo"), "unknown policy"),
        (("--bound", "guess"), "unknown bound"),
        (("--bound", "srpt"), "seconds only"),
        (("--concurrency", "3"), "closed loop"),
        (("--routing", "by-moon"), "unknown routing"),
        (("--replicas", "0"), "replicas must be"),
        (("--param", "svf.skip=2", "--policy", "fcfs"), "not among the policies"),
        (("--report", "/nowhere/at/all.html"), "cannot write"),
        (("--seed", "-1"), "--seed"),
        (("--map", "prompt"), "--map"),
    ],
)
def test_bad_input(trace, capsys, words, told):
    """One sentence, exit 2, nothing on stdout."""
    code, out, err = call(capsys, "audit", trace, "-M", "16492", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_calibrate(result, capsys):
    """The text that --coefficients takes, in both formats."""
    code, out, _ = call(capsys, "calibrate", result)
    assert code == 0
    assert f"--coefficients {COEFFICIENTS.replace('4e-8', '4e-08').replace('3e-5', '3e-05')}" in out
    found = json.loads(call(capsys, "calibrate", result, "--format", "json")[1])
    assert found["coefficients"]["N0"] == pytest.approx(128)
    assert found["undecided"] == {}
    assert found["models"] == "vllm serving a-model, 20250101-120000"


def test_calibrate_refuses_what_it_cannot_use(trace, tmp_path, capsys):
    """A trace without timings, and a benchmark with averages only; the file is named."""
    code, _, err = call(capsys, "calibrate", trace)
    assert code == 2
    assert "day.csv: this is no benchmark result" in err
    averages = tmp_path / "averages.json"
    averages.write_text('{"completed": 3, "total_input_tokens": 3, "request_throughput": 1.0}')
    code, _, err = call(capsys, "calibrate", averages)
    assert code == 2
    assert "averages.json: this benchmark result has no input_lens" in err


def test_calibrate_saves_a_preset(result, tmp_path, monkeypatch, capsys):
    """Which `--hardware` then takes, by key and by name, and `hardware` lists and changes."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    words = ["calibrate", result, "--save", "My server", "--models", "vLLM 0.11"]
    out = call(capsys, *words, "--gpu", "a100-80gb", "--tensor-parallel", "4")[1]
    assert "saved as My server: --clock seconds --hardware own-my-server" in out
    assert json.loads(call(capsys, *words, "--format", "json")[1])["saved"] == "own-my-server-2"
    kept = find_preset("My server")
    assert kept.clock.step.c0 == pytest.approx(0.03)
    assert (kept.gpu, kept.tensor_parallel) == ("a100-80gb", 4)
    assert "rounds of bench.json; models vLLM 0.11, vllm serving a-model" in kept.fit
    assert call(capsys, "hardware", "--rename", "my server (2)", "Spare")[0] == 0
    listed = json.loads(call(capsys, "hardware", "--delete", "My server", "--format", "json")[1])
    assert [row["title"] for row in listed if row["key"].startswith("own-")] == ["Spare"]
    out = call(capsys, "hardware")[1]
    assert "own-spare: Spare\n  c0=0.03,c1=0.00012,N0=128" in out
    code, out, _ = call(
        capsys, "bound", result, "--memory", 16_492, "--clock", "seconds", "--hardware", "Spare"
    )
    assert code == 0


def test_presets_are_exported_edited_and_added(capsys, tmp_path, monkeypatch):
    """As one JSON file; one that cannot be read is told, and can be deleted."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    code, out, _ = call(capsys, "hardware", "--export", "wait-paper")
    assert code == 0
    file = tmp_path / "edited.json"
    file.write_text(json.dumps({**json.loads(out), "title": "By hand", "c0": 0.5}))
    assert call(capsys, "hardware", "--add", file)[0] == 0
    assert find_preset("By hand").clock.step.c0 == 0.5
    file.write_text("{")
    code, _, err = call(capsys, "hardware", "--add", file)
    assert code == 2
    assert "the preset is not JSON" in err
    StoredRows(connected(), "preset").add("own-bad", "{")
    code, _, err = call(capsys, "hardware", "--format", "json")
    assert code == 0
    assert "own-bad: the preset is not JSON" in err
    assert call(capsys, "hardware", "--delete", "own-bad")[::2] == (0, "")
    assert list(own_presets()) == ["own-by-hand"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["calibrate", "FILE", "--save", " "], "a preset needs a name"),
        (["calibrate", "FILE", "--save", "x", "--gpu", "h300"], "unknown gpu h300: choose from"),
        (["calibrate", "FILE", "--save", "x", "--tensor-parallel", "0"], "--tensor-parallel must"),
        (["hardware", "--delete", "wait-paper"], "only your own presets can be changed"),
        (["hardware", "--rename", "nothing", "x"], "unknown hardware nothing"),
    ],
)
def test_presets_that_cannot_be(result, capsys, words, told):
    """One sentence, exit 2, and nothing kept."""
    code, _, err = call(capsys, *(result if word == "FILE" else word for word in words))
    assert code == 2
    assert told in err
    assert own_presets() == {}


def test_default_policies_can_run_where_the_router_looks(capsys, trace):
    """Of the quick ones, those that know later arrivals are left out: none fails for that."""
    servers = ["--replicas", "2", "--routing", "least-loaded"]
    code, out, _ = call(capsys, "audit", trace, "-M", 16492, *servers, "--format", "json")
    assert code == 0
    policies = json.loads(out)["policies"]
    assert policies
    assert not any("failed" in row for row in policies)


def test_a_policy_that_fails_is_labelled_as_it_was_chosen(capsys, tmp_path):
    """Its defaults are not told as if somebody had changed them."""
    trace = tmp_path / "stuck.csv"
    trace.write_text("arrival,prompt,output\n0,1,8\n0,1,8\n")
    asked = ["--policy", "svf", "--policy", "alpha-greedy", "--param", "alpha-greedy.alpha=0"]
    _, out, _ = call(capsys, "audit", trace, "-M", 10, *asked, "--format", "json")
    labels = {row["policy"] for row in json.loads(out)["policies"]}
    assert labels == {"svf", "alpha-greedy alpha=0"}


@pytest.mark.parametrize("command", ["simulate", "audit"])
def test_the_seed_reaches_policies_that_draw(capsys, trace, command):
    """alpha-beta clears at random: with --seed as with its own parameter, in every command."""
    usual = [command, trace, "-M", 9500, "--policy", "alpha-beta", "--format", "json"]

    def policies(*more):
        rows = json.loads(call(capsys, *usual, *more)[1])["policies"]
        return [row["total_latency"] for row in rows]

    seeded = policies("--seed", 3)
    assert seeded == policies("--param", "alpha-beta.seed=3", "--seed", 0)
    assert seeded != policies("--seed", 4)
