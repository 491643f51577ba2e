"""Every command that reads a trace reads it as `import` does, with the same options."""

import json

import pytest

from engine.cli import main

LOG = "when,asked,said,took,ended_late\n0,5,5,10,1\n2000,9,1,10,2\n4000,1,1,20,3\n"  # milliseconds
READ = (
    "--map", "arrival=when", "--map", "prompt=asked", "--map", "output=said",
    "--map", "latency=took", "--time-unit", "ms", "--duration-unit", "ms", "--ignore", "ended_late",
)  # fmt: skip
COMMANDS = {
    "import": (),
    "simulate": ("-M", "50", "--policy", "fcfs"),
    "bound": ("-M", "50", "--method", "fluid"),
    "audit": ("-M", "50", "--policy", "fcfs", "--bound", "fluid"),
}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
def test_same_options(command, log, capsys):
    """A file of foreign names is read by each of them."""
    assert main([command, log, *COMMANDS[command], *READ, "--format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows_kept" if command == "import" else "n"] == 3


def test_units_reach_audit(log, capsys):
    """Measured milliseconds are milliseconds: 40 of them in all."""
    seconds = ("--clock", "seconds", "--hardware", "mc-sf-paper", "--format", "json")
    assert main(["audit", log, "-M", "50", *READ, "--bound", "srpt", *seconds]) == 0
    rows = json.loads(capsys.readouterr().out)["policies"]
    measured = [row["total_latency"] for row in rows if "measured" in row["policy"]]
    assert measured == [pytest.approx(0.04)]


def test_nothing_to_read(capsys):
    """A mix that is drawn has no columns to map."""
    assert main(["sweep", "-M", "50", "--knob", "rate=1", "--map", "prompt=a"]) == 2
    assert "--map is for a TRACE" in capsys.readouterr().err
