"""The package that pip installs: complete, found from anywhere, and usable without its extras."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engine import InputError
from engine.saved.keeping import Keeping
from engine.scale_out import CORES, Sweep, run_all
from tests.services import sweeps

ROOT = Path(__file__).resolve().parents[2]
MAIN = "import sys; from engine.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from this checkout, with what is installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", ".", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("headroom-*.whl")
    return zipfile.ZipFile(file)


def sources(*paths):
    """What git tracks, or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *paths]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listing.stdout.splitlines() if (ROOT / name).is_file()}


def test_the_wheel_is_complete(wheel):
    """Every file of the program, at its place, and nothing else."""
    beside = sources("app.py", "pages", "sample_data", ".streamlit")
    expected = sources("engine") | {f"headroom/{name}" for name in beside}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected


def test_it_has_a_command(wheel):
    (points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "headroom = engine.cli:main" in wheel.read(points).decode()


def test_it_works_away_from_the_checkout(wheel, tmp_path):
    """Its own engine, with its own data and dashboard."""
    site = tmp_path / "site"
    wheel.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def installed(code, *arguments):
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert installed(MAIN, "hardware") == subprocess.run(
        [sys.executable, "-m", "engine", "hardware"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    installed(MAIN, "generate", "--n", "5", "-o", "five.csv")
    assert len((tmp_path / "five.csv").read_text().splitlines()) == 6
    dashboard = installed("from engine.sample_data import DASHBOARD; print(DASHBOARD)").strip()
    assert Path(dashboard) == site / "headroom" / "app.py"


def test_a_set_up_checkout_has_what_the_project_names():
    """requirements.txt holds no range of its own for what pyproject.toml names."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert "-e .[cluster,postgres]" in lines


def test_without_dask_the_cores_are_used(monkeypatch):
    """And who asks for a cluster is told what to install."""
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "engine.scale_out.on_cores", raising=False)
    monkeypatch.delitem(sys.modules, "engine.scale_out.on_cluster", raising=False)
    sweep = Sweep(sweeps.square, "shared", [1, 2, 3])
    assert sorted(run_all(sweep, CORES)) == [(k, ((k + 1) ** 2, "shared")) for k in range(3)]
    with pytest.raises(InputError, match=r"headroom\[cluster\]"):
        run_all(sweep, "tcp://127.0.0.1:1")


def test_without_a_driver_sqlite_is_used(monkeypatch, tmp_path):
    """And who names a PostgreSQL database is told what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    Keeping.at(f"sqlite:///{tmp_path / 'saved.db'}").close()
    with pytest.raises(InputError, match=r"headroom\[postgres\]"):
        Keeping.at("postgresql+psycopg://nobody@127.0.0.1/nothing")
