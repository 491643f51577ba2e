"""Tokens that an engine counts beside prompt and output, though the context in memory has them.

Anthropic and Bedrock leave what came from or went into the prompt cache out of the input
tokens; OpenAI, Gemini, vLLM and OpenTelemetry count it within. Gemini counts thoughts beside the
candidates; OpenAI counts reasoning within. A total, where rows have one, decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.traces.head import Head
from engine.traces.held import NOTHING, WHOLE, held, numbers
from engine.traces.names import endings, words

READ = {"read", "hit"}
WRITTEN = {"creation", "write", "written", "created"}
CACHE = {"cache", "cached"}
THOUGHTS = {"thoughts", "reasoning", "thinking"}
TOOLS = {"tool", "use", "prompt"}
NOT_TOKENS = {"cost", "price", "rate", "usd", "ratio", "percent", "ms", "enabled", "id", "key"}


def further_prompt(head: Head, prompt: str, output: str = "") -> tuple[str, ...]:
    """Names whose tokens come on top of the prompt's."""
    read = _cached(head, READ)
    written = _cached(head, WRITTEN)
    tools = [name for name in _counts(head) if set(words(endings(name)[-1])) > TOOLS]
    within = [name for name in _counts(head) if _is_part(name)]
    cached = [*read, *written]
    if not cached and within and _makes_the_total(head, (prompt, *within, output)):
        return (*within, *tools)
    if not cached and within and _exceeds(head, within, prompt):
        cached = within
    own = set(words(endings(prompt)[-1]))
    beside = bool(own & {"input", "inputs"}) and "gen_ai" not in prompt
    if cached and ((beside and not _counted_within(head, prompt, cached))
                   or _exceeds(head, cached, prompt)):  # fmt: skip
        return (*cached, *tools)
    return tuple(tools)


def further_output(head: Head, prompt: str, output: str) -> tuple[str, ...]:
    """Names whose tokens come on top of the output's: thoughts that the total counts, too."""
    names = [name for name in _counts(head) if set(words(endings(name)[-1])) & THOUGHTS][:1]
    if not names or "thoughts" in words(names[0]):
        return tuple(names)
    return tuple(names) if _makes_the_total(head, (prompt, output, *names)) else ()


def _makes_the_total(head: Head, names: Sequence[str]) -> bool:
    """Whether these add up to the total in every row that has one and a number in each name."""
    said = [
        (row, total)
        for row in head.rows
        if all(_value(row, name) for name in names) and (total := _total(row)) is not None
    ]
    sums = [total == sum(_value(row, name) for name in names) for row, total in said]
    return bool(sums) and all(sums)


def note(role: str, name: str, further: Sequence[str]) -> str:
    """What is summed, and how to have one column only."""
    return f"the {role} is {' + '.join((name, *further))}; to leave that out, map {role}={name}"


def _counts(head: Head) -> list[str]:
    return [
        name
        for name in head.names
        if not set(words(name)) & NOT_TOKENS and held(head.values(name)) in (WHOLE, NOTHING)
    ]


def _cached(head: Head, how: set[str]) -> list[str]:
    """The names of what was read from a cache or written to it; the whole, not its parts."""
    names = [
        name
        for name in _counts(head)
        if (said := set(words(name))) & CACHE and said & how and said & {"input", "tokens", "token"}
    ]
    whole = [name for name in names if set(words(endings(name)[-1])) & CACHE]
    top = min((name.count(".") for name in whole), default=0)
    return [name for name in whole if name.count(".") == top] or names


def _is_part(name: str) -> bool:
    """Whether a name counts cached tokens without saying that they were read or written."""
    said = set(words(endings(name)[-1]))
    plain_cached = bool(said & {"cached"}) and not said & (READ | WRITTEN)
    return plain_cached and bool(said & {"tokens", "token"})


def _exceeds(head: Head, cached: Sequence[str], prompt: str) -> bool:
    """Whether more was cached than the prompt has in some row: then it is no part of it."""
    return any(
        sum(_value(row, name) for name in cached) > _value(row, prompt)
        for row in head.rows
        if row.get(prompt) is not None
    )


def _counted_within(head: Head, prompt: str, cached: Sequence[str]) -> bool:
    """Whether totals show that the prompt has the cached tokens within."""
    rows = [row for row in head.rows if any(_value(row, name) for name in cached)]
    said = []
    for row in rows:
        total, own = _total(row), _value(row, prompt)
        if total is None:
            continue
        beside = own + sum(_value(row, name) for name in cached)
        said.append(total < beside)
    return bool(said) and all(said)


def _total(row) -> float | None:
    """The total that a row says, the last one where there are several."""
    for name, value in reversed(list(row.items())):
        said = words(endings(name)[-1])
        if set(words(name)) & NOT_TOKENS:
            continue
        if "total" in said and set(said) <= {"total", "tokens", "token", "count"}:
            counts = numbers([value])
            if counts and counts[0] > 0:
                return counts[0]
    return None


def _value(row, name: str) -> float:
    counts = numbers([row.get(name)]) if row.get(name) is not None else []
    return counts[0] if counts else 0.0
