"""A certificate convinces a checker that knows nothing of how it was made."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from engine import Bound, InputError, Scenario, Workload, find_method, generate
from engine.cli import main
from engine.evidence.certificate import certificate, check
from tests.twins.strategies import instances


@settings(max_examples=200)
@given(instances(max_n=6, max_memory=24))
def test_bounds_hold(instance):
    """Fluid and LP rows, with and without arrivals: the proof is the value itself."""
    workload, memory = instance
    bounds = [b for key in ("fluid", "lp") for b in find_method(key).bounds(workload, memory)]
    findings = check(certificate(bounds, workload, memory), workload).findings
    for bound, finding in zip(bounds, findings, strict=True):
        assert finding.holds
        assert finding.proved == pytest.approx(bound.value, rel=1e-12)
        assert finding.covers_preemption or not bound.covers_preemption


def tampered(change):
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    record = json.loads(certificate(find_method("lp").bounds(workload, 10), workload, 10))
    change(record)
    return check(json.dumps(record), workload).findings


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
        (period,) = record["bounds"][0]["periods"]
        period["prices"] = [price / 2 for price in period["prices"]]

    found = tampered(cheaper)[0]
    assert not found.holds
    assert found.proved < 35.744


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "this is no certificate"),
        ("[]", "this is no certificate"),
        ('{"format": "other"}', "this is no certificate"),
        ('{"format": "headroom certificate 2"}', "this is no certificate"),
        (100_000 * "[", "this is no certificate"),
        ('{"format": ' + 6000 * "9" + "}", "this is no certificate"),
    ],
)
def test_no_certificate(text, message):
    """Anything else is refused in a sentence."""
    with pytest.raises(InputError, match=message):
        check(text, Workload([0], [1], [1]))


def spoilt(**fields):
    return lambda record: record.update(fields)


def spoilt_row(**fields):
    return lambda record: record["bounds"][0].update(fields)


def spoilt_period(**fields):
    return lambda record: record["bounds"][0]["periods"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (spoilt(bounds=[]), "bounds must be one or more"),
        (spoilt(bounds={}), "bounds must be a list"),
        (spoilt(bounds=None), "bounds must be a list"),
        (spoilt(bounds=[3]), "bound 0: must be a record"),
        (spoilt(format="x"), "format must be"),
        (spoilt(requests=7), "for 7 other requests"),
        (spoilt(requests=True), "requests must be a whole number"),
        (spoilt(workload=3), "other requests"),
        (spoilt(memory="10"), "memory M .* must be a whole number"),
        (spoilt(memory=10.5), "memory M .* must be a whole number"),
        (spoilt(memory=0), "memory M .* must be a whole number"),
        (spoilt(memory=3), "no request fits"),
        (spoilt(extra=1), "unknown field extra"),
        (spoilt_row(value="big"), "value must be a number"),
        (spoilt_row(value=None), "value must be a number"),
        (spoilt_row(value=float("nan")), "NaN is no number"),
        (spoilt_row(value=float("-inf")), "-Infinity is no number"),
        (spoilt_row(bound=3), "bound must be a name"),
        (spoilt_row(covers_preemption="false"), "covers_preemption must be true or false"),
        (spoilt_row(replicas=0), "replicas must be"),
        (spoilt_row(periods=[]), "periods must be one or more"),
        (spoilt_row(periods=3), "periods must be a list"),
        (spoilt_row(periods=[{"begin": 0}]), "the field prices is missing"),
        (spoilt_row(periods=[{"begin": 1, "prices": [0.0]}]), "before the first period"),
        (spoilt_row(periods=2 * [{"begin": 0, "prices": [0.0]}]), "each beginning after"),
        (spoilt_period(begin=-1), "begin must be a whole number"),
        (spoilt_period(prices=3), "prices must be a list"),
        (spoilt_period(prices=[0, "a"]), "price 1 must be a number"),
        (spoilt_period(prices=[[1, 2], [3]]), "price 0 must be a number"),
        (spoilt_period(prices=[0, None]), "price 1 must be a number"),
        (spoilt_period(prices=[0, -1]), "price 1 must be a number"),
        (spoilt_period(prices=[1e300]), "price 0 must be a number"),
        (lambda record: record["bounds"][0].pop("value"), "the field value is missing"),
        (lambda record: record.pop("bounds"), "the field bounds is missing"),
    ],
)
def test_a_malformed_certificate(change, message):
    """A sentence that names the place, whatever is wrong; never a crash, never silence."""
    with pytest.raises(InputError, match=message):
        tampered(change)


def test_prices_without_end_prove_the_sum_of_outputs():
    """An empty list is a price of 0 in every round."""

    def no_prices(record):
        record["bounds"][0]["periods"] = [{"begin": 0, "prices": []}]

    assert tampered(no_prices)[0].proved == 18


def test_replicas_pool_their_memory():
    """A bound for two servers is proved with twice M, and one for one server is larger."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    bounds = find_method("fluid").bounds(workload, 10, replicas=2)
    text = certificate(bounds, workload, 10)
    assert check(text, workload).holds
    record = json.loads(text)
    record["bounds"][0]["replicas"] = 3
    assert not check(json.dumps(record), workload).holds


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
    out = capsys.readouterr().out
    assert out.count("holds") == 2
    assert out.startswith("80 requests, 0 set aside, M = 16\u202f492")
    record = json.loads(proof.read_text())
    record["bounds"][1]["value"] += 1
    proof.write_text(json.dumps(record))
    assert main(["verify", str(proof), trace, "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert [row["holds"] for row in result["bounds"]] == [True, False]
    assert (result["n"], result["set_aside"], result["memory"]) == (80, 0, 16_492)
    assert main(["verify", str(tmp_path / "none.json"), trace]) == 2


def test_set_aside_requests_are_left_out():
    """As in the bound itself."""
    workload = Workload([0, 0, 1.5], [2, 30, 3], [3, 3, 3])
    text = certificate(find_method("fluid").bounds(workload, 10), workload, 10)
    checked = check(text, workload)
    assert checked.holds
    assert (checked.requests, checked.set_aside) == (2, 1)


def test_a_real_mix():
    """500 requests of the default mix, prices of every method that has them."""
    workload = generate(Scenario(n=500, arrivals="poisson", rate=0.1))
    bounds = find_method("fluid").bounds(workload, 16_492)
    findings = check(certificate(bounds, workload, 16_492), workload).findings
    assert [finding.holds for finding in findings] == [True, True]
    assert np.isclose(findings[0].proved, bounds[0].value)
