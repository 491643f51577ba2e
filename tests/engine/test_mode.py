"""What each mode allows: a limit lets through what is at it, and refuses what is beyond."""

import math
import subprocess
import sys

import pytest

from engine.cli import main
from engine.errors import InputError
from engine.mode import MODES, PUBLIC, SINGLE, TEAM, current_mode

SECONDS_A_YEAR = 3e7


def silent(*_, **__):
    pass


@pytest.mark.parametrize("name", MODES)
def test_the_server_says_which(name, monkeypatch):
    monkeypatch.setenv("HEADROOM_MODE", name)
    assert current_mode().name == name


@pytest.mark.parametrize("value", [None, ""])
def test_single_unless_it_says_so(value, monkeypatch):
    monkeypatch.delenv("HEADROOM_MODE", raising=False)
    if value is not None:
        monkeypatch.setenv("HEADROOM_MODE", value)
    assert current_mode() == SINGLE


@pytest.mark.parametrize("value", ["Public", "pubic", " team", "\ud800", "x" * 10_000])
def test_what_is_no_mode_opens_nothing(value, monkeypatch, capsys):
    """Not even a server with fewer rules: one sentence that names those there are, and exit 2."""
    monkeypatch.setattr("os.environ", {"HEADROOM_MODE": value})
    assert main(["dashboard"]) == 2
    said = capsys.readouterr().err
    assert "must be one of single, team, public" in said
    assert said.count("\n") == 1


LIMITS = {
    "upload": (PUBLIC.check_upload, PUBLIC.upload_megabytes * 2**20, "10 MB"),
    "requests": (PUBLIC.check_requests, PUBLIC.requests, "20,000 requests"),
    "cells": (PUBLIC.check_cells, PUBLIC.cells, "400 cells"),
    "jobs": (lambda s: PUBLIC.check_jobs({"the audit": s}), PUBLIC.estimate, "30 s"),
    "search": (lambda s: PUBLIC.check_search({"best-found": s}), PUBLIC.search, "10 s"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_public_limits(name):
    """The sentence says the limit, and where there is none."""
    check, most, said = LIMITS[name]
    check(most)
    with pytest.raises(InputError) as refusal:
        check(most + 1)
    assert said in str(refusal.value)
    assert "machine of your own" in str(refusal.value)


@pytest.mark.parametrize("mode", [SINGLE, TEAM])
def test_who_is_known_has_no_such_limits(mode):
    mode.check_requests(10**9)
    mode.check_cells(10**6)
    mode.check_jobs({"the audit": SECONDS_A_YEAR})
    mode.check_search({"best-found": SECONDS_A_YEAR})
    mode.stopping("the audit", silent)(0.5)
    assert mode.is_shared
    assert mode.ceilings is None
    assert mode.jobs is None


def test_only_those_that_are_too_long_are_named():
    with pytest.raises(InputError, match=r"too short for the day \(about 44 s\): ask for less"):
        PUBLIC.check_jobs({"the audit": 12.0, "the day": 43.7})


def test_a_job_is_stopped_when_its_time_is_over(monkeypatch):
    """Whatever its estimate was; until then its reports go through."""
    clock = [100.0]
    monkeypatch.setattr("engine.mode.time.monotonic", lambda: clock[0])
    heard = []
    report = PUBLIC.stopping("the day", lambda *said: heard.append(said))
    clock[0] += PUBLIC.seconds
    report(0.5, "half")
    clock[0] += 0.1
    with pytest.raises(InputError, match="stops the day after 60 s"):
        report(0.6, "more")
    assert heard == [(0.5, "half")]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_no_limit_lets_nothing_through(mode):
    """A mode in which the default scenario cannot be seen would be a mistake."""
    mode.check_requests(2000)
    mode.check_jobs({"a map of 20 x 20": 5.0})
    mode.check_cells(400)
    assert mode.seconds >= mode.estimate or math.isinf(mode.estimate)


def test_streamlit_is_told(monkeypatch):
    """`headroom dashboard` passes the mode on as options, before those that are typed."""
    monkeypatch.setenv("HEADROOM_MODE", "public")
    monkeypatch.setattr("runpy.run_module", silent)
    monkeypatch.setattr(sys, "argv", ["headroom"])
    assert main(["dashboard", "--", "--server.port", "8600"]) == 0
    words = sys.argv
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert words[:2] == ["streamlit", "run"]
    assert options["--server.maxUploadSize"] == "10"
    assert options["--server.enableXsrfProtection"] == "true"
    assert options["--server.fileWatcherType"] == "none"
    assert options["--client.showErrorDetails"] == "none"
    assert options["--browser.gatherUsageStats"] == "false"
    assert words[-2:] == ["--server.port", "8600"]


def test_a_single_user_is_told_nothing_more(monkeypatch):
    monkeypatch.delenv("HEADROOM_MODE", raising=False)
    monkeypatch.setattr("runpy.run_module", silent)
    monkeypatch.setattr(sys, "argv", ["headroom"])
    assert main(["dashboard"]) == 0
    assert len(sys.argv) == 3


def test_the_options_are_streamlits():
    """All of them: Streamlit refuses to start with one that it does not know."""
    options = [f"--{name}={str(value).lower()}" for name, value in PUBLIC.settings.items()]
    shown = subprocess.run(
        [sys.executable, "-m", "streamlit", "config", "show", *options],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "maxUploadSize = 10" in shown
