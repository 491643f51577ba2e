"""Plays runs round by round in the browser: pictures move without a word from the server."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from streamlit.components.v2 import component

from engine import Run
from engine.figures.palette import MEMORY_RED, class_colour
from engine.learn.film import Film, film

HERE = Path(__file__).parent
HEADROOM = 1.18  # of M, or of what the checks would need: so much of the axis is drawn


@cache
def _mount():
    """The component, made once: streamlit warns where a name is taken twice."""
    return component(
        "headroom_player",
        html='<div class="player"></div>',
        css=(HERE / "player.css").read_text(encoding="utf-8"),
        js=(HERE / "player.js").read_text(encoding="utf-8"),
    )


def play(runs: Mapping[str, Run], key: str) -> None:
    """Each run as a film under its label, all on one clock."""
    films = {label: film(run) for label, run in runs.items()}
    shown = max(reel.rounds for reel in films.values())
    _mount()(
        key=key,
        data={
            "key": _digest(runs),
            "limit": MEMORY_RED,
            "films": [_written(label, reel, shown) for label, reel in films.items()],
        },
    )


def _digest(runs: Mapping[str, Run]) -> str:
    """A name for these films: the browser keeps its place as long as it stays."""
    content = hashlib.sha256(repr(list(runs)).encode())
    for run in runs.values():
        content.update(f"{run.workload.digest} {run.memory}".encode())
        content.update(run.residencies.begin.tobytes() + run.residencies.request.tobytes())
    return content.hexdigest()[:16]


def _written(label: str, reel: Film, shown: int) -> dict:
    """A film as the browser gets it; `top` and `shown` are where its axes end."""
    workload = reel.run.workload
    return {
        "title": label,
        "memory": reel.run.memory,
        "rounds": reel.rounds,
        "shown": shown,
        "top": _top(reel),
        "requests": [
            {
                "name": f"#{row}",
                "detail": f"{workload.classes[of]}: prompt {prompt}, output {output}",
                "colour": class_colour(of),
            }
            for row, of, prompt, output in zip(
                workload.row.tolist(),
                workload.class_of.tolist(),
                workload.prompt.tolist(),
                workload.output.tolist(),
                strict=True,
            )
        ],
        "held": reel.held.tolist(),
        "frames": [_frame(reel, t) for t in range(reel.rounds + 1)],
    }


def _top(reel: Film) -> int:
    """The tokens at which the axis ends: above M, and above most of what would be over it."""
    over = max((f.check.obstacle.missing for f in reel.frames if f.check), default=0)
    return int(
        np.ceil(max(HEADROOM * reel.run.memory, reel.run.memory + min(over, reel.run.memory)))
    )


def _frame(reel: Film, t: int) -> dict:
    frame = reel.frames[t]
    check = frame.check and {
        "head": frame.check.head,
        "holds": frame.check.holds.tolist(),
        "full_at": frame.check.obstacle.full_at,
        "missing": frame.check.obstacle.missing,
    }
    return {
        "waiting": list(frame.waiting),
        "planned": frame.planned.tolist(),
        "check": check,
        "told": reel.in_words(t),
    }
