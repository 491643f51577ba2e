"""Random damage: values that nobody should give, files that were hurt, options that do not fit."""

from __future__ import annotations

import gzip
import json
import random

from engine.traces.read import known_formats

CANONICAL = "arrival,prompt,output\n0,11,45\n0.25,273,16\n1,12,3\n7.5,1,1\n9,40,20\n"
VALUES = (
    "", " ", "-", "--", "0", "-0", "1", "-1", "2", "3", "7", "40", "0.5", "1e3", "1e-320", "1e400",
    "nan", "-inf", "inf", "NaN", "1_000", "0x10", "٣", "½", "9" * 25, "-" + "9" * 25, "9" * 5000,
    "true", "None", "null", "a", "ü", "\u2028", "\x1b[31m", "\udcff", "a=b", "=", "a=", "=1", ",",
    "1,2", "1:2", "2:1", ":", "1:", ":5", "nan:nan", "1:2:3", "short", "short=1", "short=nan",
    "short=0.5,long=0.5", "svf", "vllm", "svf.skip=1", "svf.skip=-1", "vllm.block_size=0",
    "svf.x=1",
    "fluid", "prices", "srpt", "exact", "lognormal", "lognormal:bias=0", "interval:width=-1",
    "bucket:size=0", "bucket:size=1e9", "c0=1", "c0=nan,c1=1,N0=1,c2=1,c3=1", "memory=10,20",
    "memory=10:20:3", "rate=0:1:2", "memory=1:9999999:99999", "llama-2-70b-a100-tp4", "rounds",
    "seconds", "round-robin", "least-loaded", "poisson", "gamma", "on-off", "backlog", ".", "..",
    "nowhere/at/all", "out.csv", "trace.csv", "/dev/null", "/dev/full", "%", "%s", "{}", "$HOME",
    "'", '"', "\\", "<b>", "=1+1", "arrival=x", "prompt=arrival", "output=prompt+output", "x" * 300,
)  # fmt: skip


def examples() -> list[bytes]:
    """A tiny sound file of every known layout."""
    return [CANONICAL.encode(), *(layout.EXAMPLE.encode() for layout in known_formats())]


def value(draw: random.Random, sound: str | None = None) -> str:
    """One of those above or, of a sound text, one that is near it."""
    if sound and draw.random() < 0.4:
        place = draw.randrange(len(sound) + 1)
        end = min(len(sound), place + draw.randrange(3))
        return sound[:place] + draw.choice(("", *VALUES)) + sound[end:]
    return draw.choice(VALUES)


def hurt(draw: random.Random, content: bytes) -> bytes:
    """The same with bits turned, pieces cut, doubled or replaced, or packed."""
    raw = bytearray(content)
    for _ in range(draw.randrange(4)):
        place = draw.randrange(len(raw) + 1)
        length = draw.randrange(1, 20)
        kind = draw.randrange(5)
        if kind == 0 and raw:
            raw[place % len(raw)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del raw[place : place + length]
        elif kind == 2:
            raw[place:place] = raw[place : place + length] * draw.randrange(1, 50)
        elif kind == 3:
            raw[place : place + length] = value(draw).encode("utf-8", "surrogatepass")
        else:
            del raw[place:]
    whole = bytes(raw)
    return gzip.compress(whole, mtime=0) if draw.random() < 0.05 else whole


def hurt_json(draw: random.Random, text: str) -> bytes:
    """The same document with another value, a missing one or a new one somewhere."""
    document = json.loads(text)
    place = document
    while isinstance(place, (dict, list)) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw.choice(keys)
        if not isinstance(place[key], (dict, list)) or not place[key] or draw.random() < 0.3:
            odd = (None, True, -1, 0, 5.0, 1e308, float("nan"), 10**400, "x", [], {}, [[]] * 3)
            place[key] = draw.choice((*odd, value(draw)))
            break
        place = place[key]
    return json.dumps(document).encode("utf-8", "surrogatepass")
