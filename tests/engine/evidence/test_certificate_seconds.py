"""A certificate in seconds: prices of machine time convince a checker that found none of them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Scenario, Workload, find_method, find_policy, generate
from engine.cli import main
from engine.evidence.certificate import certificate, check
from engine.machine.clock import seconds_clock
from engine.machine.hardware import find_preset
from tests.engine.simulate.test_clocks import SECONDS
from tests.twins.strategies import instances

LARGE = find_preset("llama-2-70b-a100-tp4").clock
H100 = find_preset("llama-3-8b-h100").clock


def proved_at(workload, memory, clock, **row):
    """What the checker finds for one bound that claims nothing."""
    part = {
        "begin": 0, "cell": 1.0, "cells": 4, "times": [0.0, 4.0],
        "envelopes": [{"theta": 0.0, "knee": 0.0, "prices": [2.0, 2.0]}],
    }  # fmt: skip
    part |= {name: row.pop(name) for name in set(row) & set(part)}
    record = {
        "bound": "it", "value": 0.0, "covers_preemption": False, "replicas": 1,
        "parts": [part], **row,
    }  # fmt: skip
    bounds = find_method("prices").bounds(workload, memory, clock=clock)
    whole = json.loads(certificate(bounds, workload, memory))
    return check(json.dumps({**whole, "bounds": [record]}), workload).findings[0]


@settings(max_examples=60)
@given(instances(max_n=8, max_memory=30), SECONDS, st.integers(1, 3))
def test_bounds_hold(instance, clock, replicas):
    """Whatever the machine, and however many share the work, the proof is the value itself."""
    workload, memory = instance
    bounds = find_method("prices").bounds(workload, memory, clock=clock, replicas=replicas)
    checked = check(certificate(bounds, workload, memory), workload)
    assert checked.clock == clock
    for bound, finding in zip(bounds, checked.findings, strict=True):
        assert finding.holds
        assert finding.covers_preemption == bound.covers_preemption
        assert bound.value <= finding.proved
        # Walking every token and every cell may prove more, but not by much.
        assert finding.proved <= 1.2 * bound.value + 1e-6


@settings(max_examples=150)
@given(st.data(), SECONDS, st.booleans())
def test_no_run_beats_any_prices(data, clock, every_run):
    """Serial backlogs, where a bound has power: random prices that never rise prove less."""
    memory, n = 40, data.draw(st.integers(10, 30))
    prompt = np.array(data.draw(st.lists(st.integers(1, 20), min_size=n, max_size=n)))
    workload = Workload(np.zeros(n), prompt, memory - prompt - 1)
    keys = ("svf", "fcfs", *(("vllm", "sarathi") if every_run else ()))
    runs = [find_policy(key).run(workload, memory, clock=clock) for key in keys]
    makespan = max(run.finished_at.max() for run in runs)
    prices = st.lists(st.floats(0, 2 * n), min_size=4, max_size=4)
    knee = 0.0 if every_run else clock.step.n0
    found = proved_at(
        workload,
        memory,
        clock,
        covers_preemption=every_run,
        cell=makespan / 500,
        cells=510,
        times=[0.0, makespan / 3, makespan / 2, makespan],
        envelopes=[{"theta": 0.0, "knee": knee, "prices": sorted(data.draw(prices), reverse=True)}],
    )
    assert all(found.proved <= run.latency.sum() * (1 + 1e-12) for run in runs)


def test_by_hand():
    """Six of (2, 2) on rounds of 1 s, M = 10: works 0.3 and 0.4, and 2 a second up to 4 s."""
    workload = Workload([0] * 6, [2] * 6, [2] * 6)
    # Each is cheapest at 2: 2 + 2 (0.3 + 0.4) = 3.4; the machine's 4 s are worth 8.
    found = proved_at(workload, 10, seconds_clock(1.0))
    assert found.proved == pytest.approx(6 * 3.4 - 8, rel=1e-9)
    # Nothing after 3 s: then both tokens come from 4 on for 4, at no price; 3.4 is less.
    free = [{"theta": 0.0, "knee": 0.0, "prices": [0.0, 0.0]}]
    assert proved_at(workload, 10, seconds_clock(1.0), envelopes=free).proved == pytest.approx(12)


def tampered(change):
    workload = Workload([0] * 40, [5, 20] * 20, [30, 9] * 20)
    bounds = find_method("prices").bounds(workload, 60, clock=LARGE)
    record = json.loads(certificate(bounds, workload, 60))
    change(record)
    return check(json.dumps(record), workload).findings


def as_floats(value):
    """The same with every whole number written as 5.0."""
    if isinstance(value, dict):
        return {key: as_floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_floats(inner) for inner in value]
    return value if isinstance(value, (bool, str)) else float(value)


def test_whole_numbers_may_be_written_with_a_point():
    """Many programs write 5 as 5.0."""
    assert tampered(lambda record: record.update(as_floats(record))) == tampered(
        lambda record: None
    )


def in_row(**fields):
    return lambda record: record["bounds"][0].update(fields)


def in_part(**fields):
    return lambda record: record["bounds"][0]["parts"][0].update(fields)


def in_envelope(**fields):
    return lambda record: record["bounds"][0]["parts"][0]["envelopes"][-1].update(fields)


def reversed_prices(record):
    for envelope in record["bounds"][0]["parts"][0]["envelopes"]:
        envelope["prices"].reverse()


def many_parts():
    """Each with as many cells as may be."""
    part = {"cell": 1.0, "cells": 10**6, "times": [0.0], "envelopes": []}
    return [{"begin": begin, **part} for begin in range(3)]


def shorter_rounds(record):
    record["coefficients"]["c0"] *= 0.99


def dearer_by(factor):
    def change(record):
        for envelope in record["bounds"][0]["parts"][0]["envelopes"]:
            envelope["prices"] = [factor * price for price in envelope["prices"]]

    return change


def higher(record):
    record["bounds"][0]["value"] *= 1 + 1e-4


@pytest.mark.parametrize(
    "change",
    [
        higher,
        reversed_prices,
        shorter_rounds,
        dearer_by(0.5),
        dearer_by(2.0),
        in_row(covers_preemption=True),
        in_row(replicas=2),
        in_part(cells=20),
        in_envelope(knee=45.0),
        in_envelope(knee=1e6),
    ],
)
def test_a_tampered_bound_does_not_hold(change):
    """A value, a coverage, an envelope or prices that prove less than is claimed."""
    first, second = tampered(change)
    assert not first.holds
    assert first.proved <= 1.0001 * tampered(lambda record: None)[0].proved
    assert second.holds == (change is not shorter_rounds)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_part(cell=0), "cell must be a number"),
        (in_part(cells=1.5), "cells must be a whole number"),
        (in_part(times=[]), "times must be one or more"),
        (in_part(times=[0, 0]), "each after the one before"),
        (in_part(envelopes=[{"theta": 0.5, "knee": 0}]), "the field prices is missing"),
        (in_part(envelopes=3), "envelopes must be a list"),
        (in_row(periods=[]), "unknown field periods"),
        (in_row(parts=[]), "parts must begin at 0"),
        (in_part(begin=1), "parts must begin at 0"),
        (in_part(envelopes=[{}] * 5), "envelopes must be at most 4"),
        (in_part(cells=10_000_000), "cells must be a whole number from 1 to 1,000,000"),
        (lambda record: record["bounds"][0].update(parts=many_parts()), "1,000,000 in all parts"),
        (in_envelope(theta=2), "theta must be a number from 0 to 1"),
        (in_envelope(prices=[-1]), "price 0 must be a number"),
        (in_envelope(prices=[1]), "a price at each of the times"),
        (lambda record: record.update(coefficients={"c0": 1}), "coefficients must be a record"),
        (lambda record: record["coefficients"].update(c0=-1), "coefficient c0 must be"),
        (lambda record: record.pop("coefficients"), "unknown field"),
        (lambda record: record.update(max_model_len=-1), "max_model_len must be"),
    ],
)
def test_a_malformed_certificate(change, message):
    """A sentence that names the place."""
    with pytest.raises(InputError, match=message):
        tampered(change)


def test_from_the_command_line(tmp_path, capsys):
    """`bound --clock seconds --certificate`, then `verify`: exit 0, 1 where tampered, 2 else."""
    trace, proof = str(tmp_path / "mix.csv"), tmp_path / "proof.json"
    assert main(["generate", "--n", "120", "-o", trace]) == 0
    machine = ["--clock", "seconds", "--hardware", "llama-2-70b-a100-tp4"]
    asked = ["bound", trace, "-M", "16492", "--method", "prices", "--certificate", str(proof)]
    assert main([*asked, *machine, "--max-model-len", "3000"]) == 0
    capsys.readouterr()
    assert main(["verify", str(proof), trace]) == 0
    said = capsys.readouterr().out
    assert said.count(": holds") == 2
    assert "in seconds, on a machine with c0 = " in said
    record = json.loads(proof.read_text())
    record["bounds"][1]["value"] *= 1.01
    proof.write_text(json.dumps(record))
    assert main(["verify", str(proof), trace, "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert [row["holds"] for row in result["bounds"]] == [True, False]
    assert result["set_aside"] > 0
    assert (result["clock"], result["coefficients"]["c0"]) == ("seconds", LARGE.step.c0)
    del record["max_model_len"]
    proof.write_text(json.dumps(record))
    main(["verify", str(proof), trace, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["set_aside"] == 0
    record["format"] = "other"
    proof.write_text(json.dumps(record))
    assert main(["verify", str(proof), trace]) == 2


def test_a_real_mix():
    """300 requests that arrive over time; the certificate is short."""
    workload = generate(Scenario(n=300, arrivals="poisson", rate=4.0))
    text = certificate(
        find_method("prices").bounds(workload, 16_492, clock=LARGE), workload, 16_492
    )
    assert len(text) < 20_000
    assert check(text, workload).holds


def quiet_day(n=20):
    return Workload(np.linspace(0.0, 86_400.0, n), [500] * n, [100] * n)


@pytest.mark.parametrize(
    ("workload", "memory"),
    [
        (Workload([0.0, 400_000.0], [500] * 2, [100] * 2), 16_492),
        (quiet_day(), 16_492),
        (Workload([0.0] * 9 + [43_200.0] * 9 + [86_400.0], [900] * 19, [100] * 19), 1_100),
        (Workload([1e9] * 9 + [2e9] * 9, [900] * 18, [100] * 18), 1_100),
    ],
)
@pytest.mark.parametrize("replicas", [1, 2])
def test_long_quiet_traces(workload, memory, replicas):
    """What is written for them, in parts and on few enough cells, is what a checker takes."""
    bounds = find_method("prices").bounds(workload, memory, clock=H100, replicas=replicas)
    checked = check(certificate(bounds, workload, memory), workload)
    assert checked.holds
    for bound, finding in zip(bounds, checked.findings, strict=True):
        assert finding.proved <= 1.01 * bound.value


def test_parts_that_are_moved_prove_something_else():
    """A later begin puts no request in another part unnoticed: the sum is what its parts prove."""
    workload = Workload([0.0] * 9 + [5_000.0] * 9, [900] * 18, [100] * 18)
    bounds = find_method("prices").bounds(workload, 1_100, clock=H100)
    record = json.loads(certificate(bounds, workload, 1_100))
    first, second = record["bounds"][0]["parts"]
    assert (first["begin"], second["begin"]) == (0.0, 5_000.0)
    second["begin"] = 6_000.0  # then all are in the first
    finding = check(json.dumps(record), workload).findings[0]
    assert not finding.holds
    assert finding.proved < bounds[0].value


def test_too_much_work_is_refused(monkeypatch, tmp_path, capsys):
    """Cells too narrow for so many tokens get a sentence, before anything is multiplied."""
    workload = Workload([0.0] * 200, [5] * 200, [3_000] * 200)
    bounds = find_method("prices").bounds(workload, 16_492, clock=H100)
    record = json.loads(certificate(bounds, workload, 16_492))
    part = record["bounds"][0]["parts"][0]
    part["cell"] *= part["cells"] / 900_000
    part["cells"] = 900_000
    monkeypatch.setattr("numpy.convolve", lambda *_: pytest.fail("it began to multiply"))
    with pytest.raises(InputError, match="cells are too narrow for so many tokens"):
        check(json.dumps(record), workload)
    trace, proof = tmp_path / "t.csv", tmp_path / "p.json"
    trace.write_text("arrival,prompt,output\n" + "0,5,3000\n" * 200)
    proof.write_text(json.dumps(record))
    assert main(["verify", str(proof), str(trace)]) == 2
    assert "too narrow" in capsys.readouterr().err
