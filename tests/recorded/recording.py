"""A recording: what every command did, as JSON, packed where the file's name ends in .xz."""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.recorded.replay import replay, workplace

Recording = dict[str, dict]
COMMITTED = Path(__file__).parent / "results.json.xz"


def record(lines: Iterable[str], tell: Callable[[str], None] = lambda line: None) -> Recording:
    """What each of these commands does in the engine that is imported; `tell` hears of each."""
    found = {}
    with workplace() as place:
        for line in lines:
            tell(line)
            found[line] = replay(line, place)
    return found


def use(checkout: Path) -> None:
    """Import the engine from there; to be called before anything has imported it."""
    sys.path.insert(0, str(checkout.resolve()))
    import engine

    if not Path(engine.__file__).is_relative_to(checkout.resolve()):
        raise SystemExit(f"the engine was imported from {engine.__file__}, not from {checkout}")


def write(found: Recording, path: Path) -> None:
    text = json.dumps(found, indent=0, ensure_ascii=False).encode()
    path.write_bytes(lzma.compress(text, preset=9) if path.suffix == ".xz" else text)


def read(path: Path) -> Recording:
    raw = path.read_bytes()
    return json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw)
