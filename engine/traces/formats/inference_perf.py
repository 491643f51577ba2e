"""inference-perf's per_request_lifecycle_metrics.json: a list of requests, times in seconds.

Layouts: tokens directly under info, or in newer versions under its
request_metrics and response_metrics. The prompt of a request with images or sound is what
the server counted. The summaries beside it are refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import InputError
from engine.traces.columns import Measured, Stamp, TokenColumn, no_error
from engine.traces.head import Head
from engine.traces.log import LogReading, read_log
from engine.traces.objects import value_at
from engine.traces.opened import Opened
from engine.traces.requests import TraceRequests
from engine.traces.rows import Field

NAME = "inference-perf per-request metrics"
EXAMPLE = (
    '[{"start_time": 10.5, "end_time": 12.0, "request": "{}", "response": "", "info": '
    '{"input_tokens": 20, "output_tokens": 3, "output_token_times": [11.0, 11.5, 12.0]}, '
    '"error": null}]'
)
TIMES = ("info.output_token_times", "info.response_metrics.output_token_times")

TEXT = ("info.input_tokens", "info.request_metrics.text.input_tokens")
MEDIA = ("image", "images", "video", "videos", "audio", "audios")
SERVER = ["info", "response_metrics", "server_usage", "prompt_tokens"]


def matches(head: Head) -> bool:
    return head.is_objects("start_time", "end_time", "info") or _is_summary(head)


def _is_summary(head: Head) -> bool:
    return head.is_objects("successes", "failures")


def parse(opened: Opened, reading: LogReading) -> TraceRequests:
    if _is_summary(opened.head):
        raise InputError(
            "this is a summary of inference-perf, which holds no requests: "
            "give per_request_lifecycle_metrics.json"
        )
    fields = [
        Field("no error", ("error",), no_error()),
        Field("arrival", ("start_time",), Stamp()),
        Field("prompt", ("prompt", *TEXT), TokenColumn()),
        Field(
            "output", ("info.output_tokens", "info.response_metrics.output_tokens"), TokenColumn()
        ),
        Field("ttft", ("ttft",), Measured()),
        Field("latency", ("latency",), Measured()),
    ]
    media = _Media()
    requests = read_log(opened.rows(media.requests_of), fields, reading, unit="s")
    return requests.saying(media.notes)


class _Media:
    """Requests with their durations, and how many hold images or sound beside the text."""

    def __init__(self):
        self.counted = self.unknown = 0

    @property
    def notes(self) -> list[str]:
        notes = []
        if self.counted:
            notes.append(
                f"{self.counted:,} requests hold images or sound: their prompts are what the "
                "server counted"
            )
        if self.unknown:
            notes.append(
                f"{self.unknown:,} requests hold images or sound, whose tokens are not in the file"
            )
        return notes

    def requests_of(self, request: Mapping[str, Any]) -> Iterator[dict]:
        lists = (value_at(request, name.split(".")) for name in TIMES)
        times = next((times for times in lists if isinstance(times, list) and times), [None])
        yield {
            **request,
            "prompt": self._counted(request),
            "ttft": _since(request.get("start_time"), times[0]),
            "latency": _since(request.get("start_time"), request.get("end_time")),
        }

    def _counted(self, request: Mapping[str, Any]) -> Any:
        """The prompt as the server counted it, where there is more in it than text."""
        sent = value_at(request, ["info", "request_metrics"])
        media = (value_at(sent, [kind]) for kind in MEDIA)
        if not any(isinstance(medium, Mapping) and any(medium.values()) for medium in media):
            return None
        counted = value_at(request, SERVER)
        self.counted += counted is not None
        self.unknown += counted is None
        return counted


def _since(start: Any, end: Any) -> float | None:
    numbers = isinstance(start, (int, float)) and isinstance(end, (int, float))
    return end - start if numbers else None
