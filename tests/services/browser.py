"""A fresh server of the dashboard and a real browser on it, for the browser tests."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRAWN = """!document.querySelector('[data-testid="stSkeleton"]') &&
    [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
    .every(chart => chart.querySelector('.main-svg'))"""
SCREENSHOTS = ROOT / "tests" / "screenshots"  # of the last run; not in git
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def fresh_server(environment: Mapping[str, str] | None = None):
    """The address of a server that nobody has visited yet, started in this environment as well."""
    with served(**(environment or {})) as (address, _):
        yield address


@contextmanager
def served(**environment: str):
    """The address and the process of such a server, with what is set in its environment."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(process, f"{address}/_stcore/health")
        yield address, process
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_until_healthy(process: subprocess.Popen, health: str, patience: float = 60) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with exit code {process.returncode}")
        try:
            with urllib.request.urlopen(health, timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server did not become healthy")


def photograph(page, name: str) -> None:
    """Keep a picture of the page as it is."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{re.sub('[^a-zA-Z0-9]+', '-', name).strip('-')}.png")


def go_back(page) -> None:
    """As a person does, who has seen what a change did; see ECHO in pages/parts/link.py."""
    page.wait_for_timeout(3500)
    page.go_back()
    settled(page)


def settled(page) -> None:
    """Wait until the script has run and its result is drawn."""
    page.wait_for_timeout(300)
    page.wait_for_selector(
        '[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=90_000
    )
    until = time.monotonic() + 30
    while not page.evaluate(DRAWN):  # a policy against eval also holds for wait_for_function
        assert time.monotonic() < until, "the page was not drawn"
        page.wait_for_timeout(50)
    page.wait_for_timeout(700)
