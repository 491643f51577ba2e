"""Random links to every page: none ends in an exception or keeps the visitor waiting.

`python -m tests.endurance.links --links 5000` opens each as a visitor who was never there, all in
one process, as on a server, and prints how many pages were drawn, refused with a sentence, slow,
or showed an exception.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import warnings
from collections import Counter
from os import environ
from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine import POLICIES
from engine.demand.example import examples
from engine.demand.scenario import RANGES
from engine.policy import GROUPS
from pages.parts.declared import PROJECT, declared_pages
from tests.endurance.damage import value

SLOW = 10.0  # seconds
NAMES = (
    "from", "clock", "memory", "share", "first", "second", "arrivals", "by_horizon", "servers",
    "replicas", "routing", "prefillers", "decoders", "transfer", "clients", "patience",
    "patience_s", "queue_limit", "max_model_len", "predict", "bias", "spread", "width", "bin",
    "edge", "c0", "c1", "N0", "c2", "c3", "log", "slo_ttft", "slo_tpot", "slo_latency", "time",
    "class", "policy", "window", "packed", "request", "replica", "part", "axis", "wrong", "x", "y",
    "lesson", "step", "round", "round_seconds", "time_unit", "from_memory", "embed", "metric",
    *GROUPS, *RANGES, *(f"{name}_s" for name in RANGES),
)  # fmt: skip


def link(draw: random.Random) -> dict[str, list[str]]:
    """Names that pages know, and some that none does; values that may fit, and some that do not."""
    params = [f"{key}.{param.name}" for key, policy in POLICIES.items() for param in policy.params]
    fitting = [*POLICIES, *examples(), "mix", "upload", "60", "3", "0.2", "true", "pools", "code"]
    query = {"n": [draw.choice(("40", "200", "2000"))]}  # unless something else is drawn
    for _ in range(draw.randrange(6)):
        name = draw.choice(NAMES) if draw.random() < 0.8 else draw.choice(params)
        name = value(draw, name) if draw.random() < 0.05 else name
        many = draw.choice((1, 1, 1, 2, 3))
        query[name] = [
            draw.choice(fitting) if draw.random() < 0.5 else value(draw) for _ in range(many)
        ]
    # A browser sends no halves of characters.
    return {
        name.encode(errors="replace").decode(): [
            text.encode(errors="replace").decode() for text in texts
        ]
        for name, texts in query.items()
    }


def visit(path: str, query: dict[str, list[str]]) -> tuple[str, float, list[str]]:
    """What the visitor sees: drawn, refused or exception; after how many seconds; what it says."""
    begun = time.monotonic()
    at = AppTest.from_file(PROJECT / "app.py", default_timeout=120)
    if path != "app.py":
        at.switch_page(path)
    for name, texts in query.items():
        at.query_params[name] = texts
    try:
        at.run()
    except RuntimeError as problem:  # the time is over
        return "hung", time.monotonic() - begun, [str(problem)]
    shown = [f"{element.value}" for element in at.exception]
    kind = "exception" if shown else "refused" if at.error else "drawn"
    return kind, time.monotonic() - begun, shown


def attack(links: int, seed: int = 0) -> list[dict]:
    """What came of so many links, to one page after the other."""
    pages = [page.path for page in declared_pages()]
    outcomes = []
    for number in range(links):
        query = link(random.Random(f"{seed} {number}"))
        path = pages[number % len(pages)]
        kind, seconds, shown = visit(path, query)
        outcomes.append(
            {"kind": kind, "seconds": seconds, "page": path, "link": query, "shown": shown}
        )
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        environ["HEADROOM_HOME"] = str(Path(folder))
        outcomes = attack(arguments.links, arguments.seed)
    for page in declared_pages():
        of = Counter(outcome["kind"] for outcome in outcomes if outcome["page"] == page.path)
        print(f"{page.title:14}", dict(of))
    print("all", dict(Counter(outcome["kind"] for outcome in outcomes)))
    slow = [outcome for outcome in outcomes if outcome["seconds"] > SLOW]
    print(f"longer than {SLOW:g} s: {len(slow)}")
    for odd in outcomes:
        if odd["kind"] in ("exception", "hung") or odd in slow:
            print({key: str(text)[:400] for key, text in odd.items()})


if __name__ == "__main__":
    main()
