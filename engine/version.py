"""A name for this very engine: two that differ in a rule or in their data differ in it.

Results that were kept or computed elsewhere are used only where the name is the same.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from engine.sample_data import SAMPLE_DATA

ENGINE = Path(__file__).parent
LOOKS = ("cli", "figures")  # folders that decide no number


@cache
def version() -> str:
    """12 hexadecimal digits over the engine's sources and the data that come with it."""
    sources = [
        path for path in ENGINE.rglob("*.py") if path.relative_to(ENGINE).parts[0] not in LOOKS
    ]
    digest = hashlib.sha256()
    for folder, files in ((ENGINE, sources), (SAMPLE_DATA, SAMPLE_DATA.rglob("*.*"))):
        for path in sorted(files):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
