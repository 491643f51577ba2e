"""Views as a file or a row of the database may hold them that no page could show."""

from __future__ import annotations

import json
from copy import deepcopy

RESULT = {
    "policy": "svf", "load": "stable", "gap": 1.2, "mean_latency": 30.0, "p50_latency": 20.0,
    "p90_latency": 50.0, "p99_latency": 90.0, "mean_ttft": 9.0, "makespan": 400.0,
}  # fmt: skip
SOUND = {
    "page": "Latency",
    "settings": {"n": ["120"], "classic": ["vllm", "fcfs"]},
    "title": "120 requests",
    "facts": {"M (tokens)": 16_492, "clock": "rounds", "policies": ["svf"]},
    "results": [RESULT],
    "unit": "rounds",
    "engine": "1.0",
    "trace": "",
}
HEAD = {"format": "headroom view 1", "name": "odd"}
INFINITE, NONE = float("inf"), float("nan")


def nested(depth: int) -> list:
    found: list = []
    for _ in range(depth):
        found = [found]
    return found


# How it is damaged: where, what stands there, and what the refusal must name.
DAMAGED = {
    "infinite latency": (("results", 0, "mean_latency"), INFINITE, "mean_latency"),
    "latency that is no number": (("results", 0, "p99_latency"), NONE, "p99_latency"),
    "latency as text": (("results", 0, "mean_latency"), "30", "mean_latency"),
    "latency as truth": (("results", 0, "mean_latency"), True, "mean_latency"),
    "negative latency": (("results", 0, "makespan"), -1, "makespan"),
    "latency of 400 digits": (("results", 0, "mean_latency"), 10**400, "mean_latency"),
    "infinite gap": (("results", 0, "gap"), INFINITE, "gap"),
    "gap as truth": (("results", 0, "gap"), False, "gap"),
    "unknown metric, infinite": (("results", 0, "p999"), INFINITE, "p999"),
    "unknown metric, a list": (("results", 0, "p999"), [1.0], "p999"),
    "policy is no text": (("results", 0, "policy"), 7, "policy"),
    "result is a list": (("results", 0), ["svf"], "results"),
    "results are a record": (("results",), {"svf": 3}, "results"),
    "infinite fact": (("facts", "rate"), INFINITE, "rate"),
    "fact that is no number": (("facts", "rate"), NONE, "rate"),
    "infinite in a list": (("facts", "rates"), [1, -INFINITE], "rates"),
    "fact of 400 digits": (("facts", "seed"), 10**400, "seed"),
    "fact as truth": (("facts", "seed"), True, "seed"),
    "negative count": (("facts", "M (tokens)"), -5, r"M \(tokens\)"),
    "fact is a record": (("facts", "mix"), {"short": 1}, "mix"),
    "fact is nested": (("facts", "mix"), nested(400), "mix"),
    "facts are a list": (("facts",), ["M"], "facts"),
    "half a character in the title": (("title",), "a\ud800b", "title"),
    "half a character in a policy": (("results", 0, "policy"), "\udfff", "policy"),
    "half a character in a fact": (("facts", "clock"), "\ud800", "clock"),
    "half a character in a list": (("facts", "policies"), ["svf", "\ud800"], "policies"),
    "half a character in a fact's name": (("facts", "\ud800"), 1, "facts"),
    "half a character in a setting": (("settings", "n"), ["\ud800"], "settings"),
    "half a character in a page": (("page",), "\ud800", "page"),
    "NUL in the title": (("title",), "a\0b", "title"),
    "NUL in a fact": (("facts", "clock"), "a\0b", "clock"),
    "NUL in a setting": (("settings", "n"), ["\0"], "settings"),
    "reserved setting": (("settings", "embed"), ["true"], "embed"),
    "other reserved setting": (("settings", "Embed_Options"), ["dark"], "Embed_Options"),
    "setting is a text": (("settings", "n"), "120", "settings"),
    "title of a megabyte": (("title",), "x" * 900_000, "title"),
    "title is a number": (("title",), 3, "title"),
    "grows when it is kept": (("settings", "n"), [""] * 250_000, "settings"),
    "of a later version": (("length",), 1, "unknown field"),
    "a field of half a character": (("\ud800",), 1, "unknown field"),
}  # fmt: skip


def damaged(kind: str) -> dict:
    """The fields of a sound view with this damage."""
    (*way, last), value, _ = DAMAGED[kind]
    record = deepcopy(SOUND)
    place = record
    for step in way:
        place = place[step]
    place[last] = value
    return record


def text_of(record: dict, **head) -> str:
    """As a file may hold it: as short as it can be."""
    return json.dumps({**HEAD, **head, **record}, separators=(",", ":"))


NOT_EVEN_A_RECORD = {  # and what the refusal says
    "nested without end": ("[" * 100_000, "nested"),
    "number of 5 000 digits": (text_of(SOUND).replace("16492", "1" * 5000), "digits"),
    "of another format": (text_of(SOUND, format="headroom view 2"), "headroom view 2"),
    "no JSON": ("{", "JSON"),
    "empty": ("", "JSON"),
    "a list": ("[]", "not a view"),
    "longer than any view": (text_of(SOUND) + " " * 1_100_000, "longer"),
}


def texts() -> dict[str, tuple[str, str]]:
    """All kinds as files, each with what the refusal must name."""
    files = {kind: (text_of(damaged(kind)), says) for kind, (_, _, says) in DAMAGED.items()}
    return files | NOT_EVEN_A_RECORD
