"""What a command prints: in any encoding, JSON always, the same page for the same input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import main

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("arrival,prompt,output\n" + "".join(f"{k},5,5\n" for k in range(1200)))
    return str(path)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_encodings(trace, encoding):
    """A thin space becomes a space where the encoding has none."""
    said = subprocess.run(
        [sys.executable, "-m", "engine", "import", trace, "-M", "5"],
        cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=True,
    )  # fmt: skip
    assert "1 200 need more than M = 5 tokens" in said.stdout.decode(encoding)


def test_arrivals_that_hardly_differ(tmp_path, capsys):
    """Two of 1e-320 have no rate that a float can hold."""
    path = tmp_path / "tiny.csv"
    path.write_text("arrival,prompt,output\n0,1,1\n1e-320,1,1\n")

    def no_number(name):
        raise AssertionError(name)

    assert main(["import", str(path), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=no_number)
    assert report["rate"] is None
    assert main(["import", str(path)]) == 0
    assert len(capsys.readouterr().out) < 200


def test_reports_are_the_same(trace, tmp_path, capsys):
    """The same input gives the same bytes, whatever ids the charts have."""
    reports = [tmp_path / "a.html", tmp_path / "b.html"]
    for report in reports:
        words = ["-M", "50", "--policy", "fcfs", "--bound", "fluid", "--window-requests", "400"]
        assert main(["audit", trace, *words, "--report", str(report)]) == 0
    first, second = (report.read_bytes() for report in reports)
    assert first == second
    assert first.count(b'class="plotly-graph-div"') > 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no file without end on this machine")
def test_a_certificate_without_end(trace, capsys):
    """It is not read to the end."""
    assert main(["verify", "/dev/zero", trace]) == 2
    assert "longer than" in capsys.readouterr().err
