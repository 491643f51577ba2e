"""A benchmark result as tokens: whose, the how many-th, and when each came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO

import numpy as np

from engine.errors import InputError
from engine.traces.bench import RETOKENIZED, is_bench
from engine.traces.head import look
from engine.traces.opened import Opened
from engine.traces.opening import open_bytes

LISTS = ("input_lens", "ttfts", "itls", "start_times")
STARTS = ("start_times", "arrival_times")  # when requests were sent
LONGEST = 1e15  # seconds either way
NEEDS = "run vLLM's bench serve with --save-result --save-detailed"
NOT_SGLANG = (
    "this result of SGLang's benchmark does not say when requests were sent, which no option of "
    "it writes: run vLLM's bench serve against the server, with --save-result --save-detailed"
)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The requests of a benchmark that were answered, n of them, and their tokens, m.

    Attributes
    ----------
    prompt : (n,) int64, tokens
    sent : (n,) float64, seconds; when each request was sent
    request : (m,) int64, whose token
    number : (m,) int64, from 0 for the first of a request
    at : (m,) float64, seconds; when it came, ascending within a request
    server : what the file says of engine, model and date
    left_out : how many requests had no usable timings
    merged : how many requests have fewer arrivals of tokens than tokens, as when a stream
        is delivered in pieces
    """

    prompt: np.ndarray
    sent: np.ndarray
    request: np.ndarray
    number: np.ndarray
    at: np.ndarray
    server: str = ""
    left_out: int = 0
    merged: int = 0


def read_benchmark(source: str | PathLike | BinaryIO) -> Benchmark:
    """The tokens of a vLLM or SGLang benchmark result with per-request timings.

    Raises
    ------
    InputError
        Where the file is something else, or holds averages only.
    """
    with open_bytes(source) as file:
        opened = Opened(file, look(file))
        with opened.stack:
            if not is_bench(opened.head):
                raise InputError(
                    "this is no benchmark result of vLLM or SGLang, whose per-token timings "
                    f"calibration needs: {NEEDS}"
                )
            results = [result for _, result in opened.objects() if isinstance(result, Mapping)]
    if len(results) != 1:
        raise InputError(
            "the file holds several benchmark runs, each with its own clock: keep one of its lines"
        )
    return _tokens(results[0])


def _tokens(result: Mapping[str, Any]) -> Benchmark:
    sent_at = next((result[name] for name in STARTS if _is_full(result.get(name))), None)
    lists: dict[str, Any] = {name: result.get(name) for name in LISTS} | {"start_times": sent_at}
    if sent_at is None and RETOKENIZED in result:
        raise InputError(NOT_SGLANG)
    if absent := [name for name, values in lists.items() if not _is_full(values)]:
        raise InputError(f"this benchmark result has no {', '.join(absent)}: {NEEDS}")
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(
            "this benchmark result is damaged: its lists differ in length ("
            + ", ".join(f"{name} {size:,}" for name, size in sizes.items())
            + ")"
        )
    outputs = _column(result, "output_lens", sizes["itls"], None)
    errors = _column(result, "errors", sizes["itls"], "")
    rows = zip(*lists.values(), errors, strict=True)
    usable = [_is_answer(*row) for row in rows]
    if not any(usable):
        raise InputError(
            "no request of this benchmark has a time to the first token and the gaps behind it: "
            "run it with streaming"
        )
    kept = [number for number, ok in enumerate(usable) if ok]
    prompt, ttft, gaps, sent = ([values[i] for i in kept] for values in lists.values())
    counts = np.array([1 + len(list_) for list_ in gaps])
    at = np.concatenate(
        [begun + np.cumsum([first, *list_])
         for begun, first, list_ in zip(sent, ttft, gaps, strict=True)]
    )  # fmt: skip
    said = [outputs[i] for i in kept]
    return Benchmark(
        prompt=np.array(prompt, np.int64),
        sent=np.array(sent, float),
        request=np.repeat(np.arange(len(kept)), counts),
        number=np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts),
        at=at,
        server=_server(result),
        left_out=sizes["itls"] - len(kept),
        merged=sum(
            isinstance(output, int) and output > count
            for output, count in zip(said, counts, strict=True)
        ),
    )


def _is_full(values: Any) -> bool:
    return isinstance(values, list) and len(values) > 0


def _column(result: Mapping[str, Any], name: str, size: int, missing: Any) -> list:
    """A list of the result with an item for each request; where it is none, all are `missing`."""
    values = result.get(name)
    return values if isinstance(values, list) and len(values) == size else [missing] * size


def _is_number(value: Any) -> bool:
    """Whether it is a number of seconds; whole ones may have any number of digits in JSON."""
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_one and -LONGEST < value < LONGEST


def _is_answer(prompt, ttft, gaps, sent, error) -> bool:
    """Whether a request was answered and its timings make sense."""
    return (
        not error
        and isinstance(prompt, int)
        and not isinstance(prompt, bool)
        and 1 <= prompt <= 10**9
        and _is_number(ttft)
        and ttft > 0
        and _is_number(sent)
        and isinstance(gaps, list)
        and all(_is_number(gap) and gap >= 0 for gap in gaps)
    )


def _server(result: Mapping[str, Any]) -> str:
    """`vllm serving m, 20250101-120000`, as far as the file says it."""
    backend = result.get("backend") or result.get("endpoint_type")
    words = [str(backend)] if backend else []
    words += [f"serving {result['model_id']}"] if result.get("model_id") else []
    words += [f"version {result['version']}"] if result.get("version") else []
    return ", ".join([" ".join(words)] + ([str(result["date"])] if result.get("date") else []))
