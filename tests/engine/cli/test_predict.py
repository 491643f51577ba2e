"""Predictions on the command line: drawn, written, read, and told what is wrong."""

import json

import pytest

from engine import Scenario, find_policy, generate, read_trace
from engine.cli import main
from engine.demand.predictions import LognormalError, with_predictions
from engine.traces import write_csv

MODEL = "lognormal:bias=0.7,spread=0.6"


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    write_csv(generate(Scenario(n=80)), path)
    return path


def ask(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads(said.out)


def fails(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 2
    return capsys.readouterr().err


def test_simulate_with_a_model(capsys, trace):
    """As in Python, with the seed given; vllm does not care."""
    chosen = ("--policy", "svf", "--policy", "vllm", "--format", "json")
    simulate = ("simulate", trace, "--memory", 9000, *chosen)
    known = ask(capsys, *simulate)["policies"]
    guessed = ask(capsys, *simulate, "--predict", MODEL, "--seed", 5)["policies"]
    workload, _ = read_trace(trace)
    run = find_policy("svf").run(with_predictions(workload, LognormalError(0.7, 0.6), 5), 9000)
    assert guessed[0]["total_latency"] == run.latency.sum()
    assert guessed[0]["preemptions"] == run.preemptions.sum() > 0
    assert guessed[1] == known[1]


def test_generated_predictions_come_back(capsys, tmp_path):
    """What --predict writes is what the scenario has, and simulate uses it unasked."""
    path = tmp_path / "guessed.csv"
    assert main(["generate", "--n", "60", "--predict", MODEL, "-o", str(path)]) == 0
    workload, report = read_trace(path)
    drawn = generate(Scenario(n=60, predict=MODEL))
    assert report.remarks() == []
    assert workload.predicted.tolist() == drawn.predicted.tolist()
    simulate = ("simulate", path, "--memory", 9000, "--policy", "a-min", "--format", "json")
    capsys.readouterr()
    row = ask(capsys, *simulate)["policies"][0]
    assert row["total_latency"] == find_policy("a-min").run(drawn, 9000).latency.sum()
    exact = ask(capsys, *simulate, "--predict", "exact")["policies"][0]
    assert exact["preemptions"] == 0


def test_sweep_over_error_and_margin(capsys):
    """Both are knobs; without error nothing is preempted."""
    cells = ask(
        capsys, "sweep", "--memory", 6000, "--n", 200, "--rate", 1, "--policy", "svf",
        "--format", "json",
        "--knob", "error=0,1", "--knob", "svf.margin=0,0.2",
    )["cells"]  # fmt: skip
    preemptions = {(cell["error"], cell["svf.margin"]): cell["preemptions"] for cell in cells}
    assert preemptions[0, 0] == preemptions[0, 0.2] == 0
    assert preemptions[1, 0] > preemptions[1, 0.2]


def test_bad_predictions_are_one_sentence(capsys, trace):
    """The model, the field, the seed, or what does not go together."""
    simulate = ("simulate", trace, "--memory", 9000)
    assert "unknown predictions oracle" in fails(capsys, *simulate, "--predict", "oracle")
    assert "spread must be a number" in fails(capsys, *simulate, "--predict", "lognormal:spread=x")
    sweep = ("sweep", trace, "--memory", 9000, "--knob", "memory=9000", "--predict", MODEL)
    assert "--seed must be a whole number" in fails(capsys, *sweep, "--seed", -1)
    assert "--rate is for a mix" in fails(capsys, *sweep, "--rate", 1)
    study = ("uncertainty", "--memory", 9000)
    assert "unknown axis noise: choose from error" in fails(capsys, *study, "--axis", "noise")
    assert "--draws must be a whole number" in fails(capsys, *study, "--draws", 0)
    pairs = ("--pairs", trace, "--predict", MODEL)
    assert "columns" in fails(capsys, *study, *pairs) or "column" in fails(capsys, *study, *pairs)
