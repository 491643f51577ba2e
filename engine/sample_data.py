"""What ships beside the engine: the dashboard, and a folder of small data files.

In a checkout they lie beside engine/; an installed package has them in its folder `headroom`
(pyproject.toml), because names like `pages` are not ours alone there.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.errors import InputError

BESIDE = Path(__file__).resolve().parent.parent
INSTALLED = BESIDE / "headroom"
PROGRAM = INSTALLED if (INSTALLED / "app.py").is_file() else BESIDE
SAMPLE_DATA = PROGRAM / "sample_data"
DASHBOARD = PROGRAM / "app.py"


def files_by_key(folder: Path) -> dict[str, Path]:
    """Every JSON file of a folder by its key, the file name without its ending."""
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


def read_record(path: Path) -> dict:
    """The JSON object in a file; InputError names the file and the line that cannot be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name}: not a readable JSON file: {error}") from None
    if not isinstance(record, dict):
        raise InputError(f"{path.name}: must hold one JSON object")
    return record
