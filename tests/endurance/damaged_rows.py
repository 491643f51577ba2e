"""Saved views and presets that were damaged in the database: none takes others along.

`python -m tests.endurance.damaged_rows --rows 2000` writes damaged rows by hand, a hundred at a
time among two sound ones, lists them as the program does and opens the pages that list them.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from os import environ
from pathlib import Path
from typing import Any

from engine.database import connected
from engine.machine import own_presets
from engine.machine.hardware import find_preset
from engine.machine.preset_text import write_preset
from engine.saved import Keeping
from tests.endurance.damage import hurt, hurt_json, value
from tests.endurance.links import visit
from tests.services.damaged_views import DAMAGED, SOUND, damaged, text_of

BATCH = 100  # rows beside which two sound ones stand
PAGES = ("app.py", "pages/5_Saved.py")


def rows(many: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Kind, name, time and content of damaged rows."""
    preset = write_preset(find_preset("llama-2-70b-a100-tp4"))
    sound = {"view": text_of(SOUND), "preset": preset}
    for number in range(many):
        draw = random.Random(f"{seed} {number}")
        kind = draw.choice(("view", "preset"))
        text: Any = sound[kind].encode()
        for _ in range(draw.randrange(1, 4)):
            try:
                text = hurt_json(draw, text.decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError):
                text = hurt(draw, text)
        if kind == "view" and draw.random() < 0.2:
            text = text_of(damaged(draw.choice(list(DAMAGED)))).encode("utf-8", "surrogatepass")
        prefix = "own-" if kind == "preset" and draw.random() < 0.8 else ""
        name = f"{prefix}{number} {value(draw)}".encode(errors="replace").decode()
        saved = draw.choice(("2026-01-01 00:00:00",) * 3 + (value(draw), -1, 1e308))
        saved = saved.encode(errors="replace").decode() if isinstance(saved, str) else saved
        content = text.decode(errors="replace")
        if draw.random() < 0.1:
            content = draw.choice((text, 7, b"\xff"))
        yield kind, name, saved, content


def attack(many: int, seed: int = 0) -> Counter:
    """What came of so many rows: read, set aside, lost; sound ones missing; exceptions of pages."""
    counts: Counter = Counter()
    damaged_rows = list(rows(many, seed))
    for first in range(0, many, BATCH):
        with tempfile.TemporaryDirectory() as folder:
            environ["HEADROOM_HOME"] = folder
            _put(Path(folder), damaged_rows[first : first + BATCH])
            counts.update(_listed(damaged_rows[first : first + BATCH]))
            for page in PAGES:
                kind, _, shown = visit(page, {"n": ["40"]})
                counts[f"page {kind}"] += 1
                for text in shown:
                    print(page, text[:300])
    return counts


def _put(folder: Path, damaged_rows: list[tuple]) -> None:
    with connected().writing():  # makes the tables
        pass
    time = "2026-02-01 00:00:00"
    sound_preset = write_preset(find_preset("llama-2-70b-a100-tp4"))
    sound = [
        ("view", "sound view", time, text_of(SOUND)),
        ("preset", "own-sound", time, sound_preset),
    ]
    with closing(sqlite3.connect(folder / "saved.db")) as connection:
        connection.executemany(
            "INSERT INTO kept (kind, name, saved, content) VALUES (?, ?, ?, ?)",
            [*damaged_rows, *sound],
        )
        connection.commit()


def _listed(damaged_rows: list[tuple]) -> Counter:
    keeping = Keeping(connected())
    views, odd_views = keeping.listed()
    presets, odd_presets = own_presets.listed()
    counts = Counter(
        {"read": len(views) + len(presets) - 2, "set aside": len(odd_views) + len(odd_presets)}
    )
    counts["lost"] = len(damaged_rows) - counts["read"] - counts["set aside"]
    counts["sound one missing"] = ("sound view" not in [view.name for view in views]) + (
        "own-sound" not in presets
    )
    counts["not one sentence"] = sum("\n" in odd.reason for odd in [*odd_views, *odd_presets])
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(json.dumps(attack(arguments.rows, arguments.seed)))


if __name__ == "__main__":
    main()
