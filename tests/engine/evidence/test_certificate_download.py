"""What is handed out verifies, by the command that the page names."""

import json
import shlex

import pytest
from hypothesis import given

from engine import Bound, Scenario, Workload, find_method, generate
from engine.cli import main
from engine.demand.example import examples
from engine.evidence.certificate import check
from engine.evidence.certificate_download import (
    certificate_text,
    is_too_long,
    provable,
    requests_text,
)
from engine.traces import read_trace
from tests.twins.strategies import instances


def holds(bounds, workload, memory, folder):
    """Whether a stranger who reads both files finds every bound proved."""
    requests = folder / "requests.csv"
    requests.write_text(requests_text(workload))
    read, _ = read_trace(requests)
    findings = check(certificate_text(bounds, workload, memory), read).findings
    assert len(findings) == len(bounds)
    return all(finding.holds for finding in findings)


@given(instance=instances())
def test_certificate_and_requests_belong_together(tmp_path_factory, instance):
    """Arrivals in any order, whole or not, many digits: what is read back is what was proved."""
    workload, memory = instance
    bounds = find_method("fluid").bounds(workload, memory)
    assert holds(provable(bounds), workload, memory, tmp_path_factory.mktemp("proof"))


@pytest.mark.parametrize("key", examples())
def test_every_example(tmp_path, key):
    """Also where classes have names, or some are absent."""
    example = examples()[key]
    bounds = find_method("fluid").bounds(example.workload, example.memory)
    assert holds(provable(bounds), example.workload, example.memory, tmp_path)


def test_an_absent_class_and_requests_set_aside(tmp_path):
    """Nothing of the first class, and a memory too small for some of the second."""
    workload = generate(Scenario(n=60, mix={"short": 0, "long": 1}))
    memory = int(sorted(workload.peak)[30])
    bounds = find_method("fluid").bounds(workload, memory)
    assert holds(provable(bounds), workload, memory, tmp_path)


def test_by_the_command(tmp_path, monkeypatch, capsys):
    """The very line that the page shows."""
    from pages.parts.gap.certainty import VERIFY

    workload = generate(Scenario(n=50))
    bounds = find_method("fluid").bounds(workload, 16_492)
    (tmp_path / "requests.csv").write_text(requests_text(workload))
    (tmp_path / "certificate.json").write_text(certificate_text(bounds, workload, 16_492))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(VERIFY)[3:]) == 0
    assert "holds" in capsys.readouterr().out


def test_the_best_of_each_kind_is_handed_out():
    """Without the row that no prices prove, however large it is."""
    workload = Workload([0] * 6, [2] * 6, [3] * 6)
    bounds = [b for key in ("fluid", "lp") for b in find_method(key).bounds(workload, 10)]
    bounds.append(Bound("hindsight", 36.0, True, False, "test"))
    assert [bound.bound for bound in provable(bounds)] == ["lp-preemptive", "lp"]
    record = json.loads(certificate_text(provable(bounds), workload, 10))
    assert [row["bound"] for row in record["bounds"]] == ["lp-preemptive", "lp"]
    assert not is_too_long(provable(bounds))
    assert is_too_long(200_000 * provable(bounds))
    assert provable([]) == []
