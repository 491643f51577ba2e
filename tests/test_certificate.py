"""A certificate convinces a checker that knows nothing of how it was made."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from engine import Bound, InputError, Scenario, Workload, find_method, generate
from engine.certificate import certificate, check
from engine.cli import main
from tests.strategies import instances


@settings(max_examples=200)
@given(instances(max_n=6, max_memory=24))
def test_bounds_hold(instance):
    """Fluid and LP rows, with and without arrivals: the proof is the value itself."""
    workload, memory = instance
    bounds = [b for key in ("fluid", "lp") for b in find_method(key).bounds(workload, memory)]
    findings = check(certificate(bounds, workload, memory), workload)
    for bound, finding in zip(bounds, findings, strict=True):
        assert finding.holds
        assert finding.proved == pytest.approx(bound.value, rel=1e-12)
        assert finding.covers_preemption == bound.covers_preemption


def tampered(change):
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    record = json.loads(certificate(find_method("lp").bounds(workload, 10), workload, 10))
    change(record)
    return check(json.dumps(record), workload)


def test_a_value_above_the_proof_does_not_hold():
    """One part in a billion is too much."""

    def raise_value(record):
        record["bounds"][0]["value"] *= 1 + 1e-9

    assert [finding.holds for finding in tampered(raise_value)] == [False, True]


def test_a_false_claim_of_coverage_does_not_hold():
    """Prices that rise prove nothing about runs that gave up KV cache."""

    def claim(record):
        record["bounds"][0]["covers_preemption"] = True

    assert [finding.holds for finding in tampered(claim)] == [False, True]


def test_other_prices_prove_another_value():
    """The checker computes from the prices, not from the value."""

    def cheaper(record):
        record["bounds"][0]["prices"] = [price / 2 for price in record["bounds"][0]["prices"]]

    found = tampered(cheaper)[0]
    assert not found.holds
    assert found.proved < 35.744


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "this is no certificate"),
        ("[]", "this is no certificate"),
        ('{"format": "other"}', "this is no certificate"),
        ('{"format": "headroom certificate 1"}', "this is no certificate"),
    ],
)
def test_no_certificate(text, message):
    """Anything else is refused in a sentence."""
    with pytest.raises(InputError, match=message):
        check(text, Workload([0], [1], [1]))


def test_other_requests():
    """A certificate speaks of its own trace only."""
    workload = Workload([0, 0], [2, 3], [3, 3])
    text = certificate(find_method("fluid").bounds(workload, 10), workload, 10)
    with pytest.raises(InputError, match="for 2 other requests"):
        check(text, Workload([0, 0], [2, 3], [3, 4]))


def test_bounds_without_prices_have_no_certificate():
    """The integer program is proved by its solver's search."""
    with pytest.raises(InputError, match="none of these bounds is proved by prices"):
        certificate([Bound("hindsight", 1.0, True, False, "x")], Workload([0], [1], [1]), 5)


def test_from_the_command_line(tmp_path, capsys):
    """`bound --certificate`, then `verify`: exit 0, and 1 for a bound that does not hold."""
    trace, proof = str(tmp_path / "mix.csv"), tmp_path / "proof.json"
    assert main(["generate", "--n", "80", "-o", trace]) == 0
    asked = ["bound", trace, "-M", "16492", "--method", "prices", "--certificate", str(proof)]
    assert main([*asked, "--time-limit", "1"]) == 0
    capsys.readouterr()
    assert main(["verify", str(proof), trace]) == 0
    assert capsys.readouterr().out.count("holds") == 2
    record = json.loads(proof.read_text())
    record["bounds"][1]["value"] += 1
    proof.write_text(json.dumps(record))
    assert main(["verify", str(proof), trace, "--format", "json"]) == 1
    assert [row["holds"] for row in json.loads(capsys.readouterr().out)] == [True, False]
    assert main(["verify", str(tmp_path / "none.json"), trace]) == 2


def test_set_aside_requests_are_left_out():
    """As in the bound itself."""
    workload = Workload([0, 0, 1.5], [2, 30, 3], [3, 3, 3])
    text = certificate(find_method("fluid").bounds(workload, 10), workload, 10)
    assert all(finding.holds for finding in check(text, workload))


def test_a_real_mix():
    """500 requests of the default mix, prices of every method that has them."""
    workload = generate(Scenario(n=500, arrivals="poisson", rate=0.1))
    bounds = find_method("fluid").bounds(workload, 16_492)
    findings = check(certificate(bounds, workload, 16_492), workload)
    assert [finding.holds for finding in findings] == [True, True]
    assert np.isclose(findings[0].proved, bounds[0].value)
