"""A benchmark result that holds its requests as lists, one a quantity: as rows.

vLLM's `bench serve` and SGLang's `bench_serving` write such results. Where there is no
end-to-end latency of a request, it is the time to the first token and the gaps
behind it, summed. A client that limits how many requests are on their way holds them back:
they arrived `queue_times` before they were sent, and their latencies count from then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import InputError
from engine.traces.columns import Measured, Stamp, TokenColumn, no_error
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field
from engine.workload import MAX_ARRIVAL

LENGTHS = ("input_lens", "output_lens")
STARTS = ("start_times", "arrival_times")
LISTS = (*LENGTHS, "ttfts", "itls", "latencies", "errors", *STARTS, "queue_times")
RETOKENIZED = "total_output_tokens_retokenized"  # SGLang's results count it, vLLM's do not
NO_TIMES = "this result has no start_times: newer versions of the benchmark write them"
NEVER_TIMES = "this result has no times at which requests were sent: SGLang's benchmark writes none"
HELD_BACK = (
    "{:,} requests waited at the client before they were sent: they arrived then, and their "
    "latencies count from then"
)


def is_bench(head: Head, within: str = "") -> bool:
    """Whether this is such a result, under the key `within` if there is one."""
    under = f"{within}." if within else ""
    names = ("completed", "total_input_tokens", "request_throughput")
    return head.is_objects(*(under + name for name in names))


def read_bench(opened: Opened, reading: LogReading, option: str, within: str = "") -> TraceRequests:
    """The requests of one run.

    Parameters
    ----------
    option : what makes the benchmark write them
    within : the key under which the result stands, if not at the top
    """
    fields = [
        Field("no error", ("error",), no_error()),
        Field("prompt", ("input_len",), TokenColumn()),
        Field("output", ("output_len",), TokenColumn()),
        Field("ttft", ("ttft",), Measured()),
        Field("latency", ("latency",), Measured()),
    ]
    first = opened.head.first
    result = first.get(within) if within else first
    result = result if isinstance(result, Mapping) else {}
    notes = []
    if any(result.get(name) for name in STARTS):
        fields.append(Field("arrival", ("arrival",), Stamp()))
    else:
        notes.append(NEVER_TIMES if RETOKENIZED in result else NO_TIMES)
    run = _Run(option, within)
    requests = read_log(opened.rows(run.rows), fields, reading, unit="s", notes=notes)
    return requests.saying([HELD_BACK.format(run.held_back)] if run.held_back else [])


class _Run:
    """The rows of a result, once: a second run has a clock of its own."""

    def __init__(self, option: str, within: str):
        self.option, self.within = option, within
        self.seen = False
        self.held_back = 0

    def rows(self, result: Mapping[str, Any]) -> Iterator[dict]:
        if self.seen:
            raise InputError(
                "the file holds several benchmark runs, each with its own clock: "
                "keep one of its lines"
            )
        self.seen = True
        if self.within:
            inner = result.get(self.within)
            result = inner if isinstance(inner, Mapping) else {}
        lists = {name: result[name] for name in LISTS if isinstance(result.get(name), list)}
        if not all(lists.get(name) for name in LENGTHS):
            raise InputError(
                f"this benchmark result holds only averages, over {result.get('completed')} "
                f"requests: run the benchmark again with {self.option}"
            )
        for name, values in lists.items():
            if len(values) != len(lists["input_lens"]):
                raise InputError(
                    f"this benchmark result is damaged: {name} has {len(values):,} entries, "
                    f"input_lens {len(lists['input_lens']):,}"
                )
        for values in zip(*lists.values(), strict=True):
            row = _row(dict(zip(lists, values, strict=True)))
            self.held_back += row["queued"] > 0
            yield row


def _row(values: Mapping[str, Any]) -> dict:
    # A time of 0 to the first token is how a run without streaming says it has none.
    ttft = values.get("ttfts") or None
    latency = values.get("latencies") or _sum(ttft, values.get("itls"))
    queued = _number(values.get("queue_times")) or 0.0
    sent = next((values[name] for name in STARTS if values.get(name) is not None), None)
    return {
        "error": values.get("errors"),
        "input_len": values["input_lens"],
        "output_len": values["output_lens"],
        "arrival": _add(sent, -queued),
        "ttft": _add(ttft, queued),
        "latency": _add(latency, queued),
        "queued": queued,
    }


def _number(value: Any) -> float | None:
    whole = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if whole and 0 < value < MAX_ARRIVAL else None


def _add(value: Any, more: float) -> Any:
    """A value and what comes on top; as it is where nothing does, or it is no number."""
    return value + more if more and isinstance(value, (int, float)) else value


def _sum(ttft: Any, gaps: Any) -> float | None:
    if not isinstance(gaps, list):
        return None
    try:
        return ttft + sum(gaps)
    except TypeError:
        return None
