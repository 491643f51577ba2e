"""Logs of servers and clouds: each layout's units, names and ways to fail."""

import json

import pytest

from engine import InputError
from tests.engine.traces.reading import lengths, lines, read

BEGUN = 1_760_000_000


def span(second, prompt=7, output=3, **more):
    said = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": prompt,
            "gen_ai.usage.output_tokens": output}  # fmt: skip
    nanos = {"startTimeUnixNano": str((BEGUN + second) * 10**9),
             "endTimeUnixNano": str((BEGUN + second) * 10**9 + 1_500_000_000)}  # fmt: skip
    return {"name": "chat", **nanos, "attributes": {**said, **more}}


def test_spans():
    """A span a line; agents, tools and failures set aside; the first may be of something else."""
    agent = span(0, 99, 99, **{"gen_ai.operation.name": "invoke_agent"})
    failed = {**span(4), "status": {"code": 2}}
    other = {"name": "GET", "startTimeUnixNano": "1", "attributes": {"http.method": "GET"}}
    requests, report = read(lines(other, agent, span(1), span(3, 8), failed))
    assert report.format == "OpenTelemetry spans"
    assert lengths(requests) == [(7, 3), (8, 3)]
    assert requests.seconds.tolist() == [0, 2]
    assert requests.latency.tolist() == [1.5, 1.5]
    assert sum(report.set_aside.values()) == 3


def test_spans_as_the_protocol_has_them():
    """Within resources and scopes, attributes as a list of keys and values."""

    def listed(one):
        pairs = [{"key": key, "value": {"stringValue" if isinstance(value, str) else "intValue":
                                        str(value)}}
                 for key, value in one["attributes"].items()]  # fmt: skip
        return {**one, "attributes": pairs}

    scopes = [{"scope": {}, "spans": [listed(span(0)), listed(span(2, 9))]}]
    whole = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": scopes}]}
    for text in (json.dumps(whole), lines(whole), json.dumps(whole, indent=1)):
        requests, report = read(text)
        assert report.format == "OpenTelemetry spans"
        assert lengths(requests) == [(7, 3), (9, 3)]
        assert requests.seconds.tolist() == [0, 2]


def test_spans_of_an_sdk():
    """Dates in place of nanoseconds, and older names."""
    said = {"gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.completion_tokens": 3}
    spans = [{"name": "x", "start_time": f"2025-01-01T00:00:0{i}.5Z",
              "end_time": f"2025-01-01T00:00:0{i + 1}Z", "attributes": said}
             for i in (1, 4)]  # fmt: skip
    requests, _ = read(json.dumps(spans))
    assert requests.seconds.tolist() == [0, 3]
    assert requests.latency.tolist() == [0.5, 0.5]


def answer(second, status=200, **usage):
    body = {"created": BEGUN + second, "usage": usage}
    return {"id": "b", "custom_id": str(second), "response": {"status_code": status, "body": body},
            "error": None}  # fmt: skip


def test_batch_output():
    """Both namings of usage; a failed line first."""
    failed = {"id": "b", "custom_id": "x", "response": None, "error": {"message": "expired"}}
    good = answer(0, prompt_tokens=7, completion_tokens=3)
    newer = answer(5, input_tokens=8, output_tokens=4)
    refused = answer(6, 429, prompt_tokens=7, completion_tokens=3)
    requests, report = read(lines(failed, good, newer, refused))
    assert report.format == "OpenAI batch output"
    assert lengths(requests) == [(7, 3), (8, 4)]
    assert requests.seconds.tolist() == [0, 5]
    assert sum(report.set_aside.values()) == 2
    assert any("a batch has no arrivals" in note for note in report.notes)


def event(second, **more):
    request = {"input_tokens": 7, "output_tokens": 3, "request_received_ms": 1000 * second,
               "ttft_ms": 250.0, "total_time_ms": 1500.0, **more}  # fmt: skip
    return {"schema": "dynamo.request.trace.v1", "event_type": "request_end", "request": request}


def test_dynamo():
    """Milliseconds; tools set aside; within an event as well."""
    tool = {"schema": "dynamo.request.trace.v1", "event_type": "tool_start", "tool": {}}
    for wrap in (lambda each: each, lambda each: {"timestamp": 9, "event": each}):
        requests, report = read(lines(*map(wrap, (tool, event(2), event(6, input_tokens=8)))))
        assert report.format == "Dynamo request trace"
        assert lengths(requests) == [(7, 3), (8, 3)]
        assert requests.seconds.tolist() == [0, 4]
        assert (requests.ttft.tolist(), requests.latency.tolist()) == ([0.25] * 2, [1.5] * 2)
        assert sum(report.set_aside.values()) == 1


def test_bedrock():
    """Cached tokens come on top; a failed invocation has no output."""
    one = {"timestamp": "2025-01-01T00:00:00Z", "operation": "Converse",
           "input": {"inputTokenCount": 7, "inputBodyJson": {"messages": []},
                     "cacheReadInputTokenCount": 100, "cacheWriteInputTokenCount": 0},
           "output": {"outputTokenCount": 3}}  # fmt: skip
    failed = {**one, "errorCode": "ThrottlingException", "output": {}}
    requests, report = read(lines(one, {**one, "timestamp": "2025-01-01T00:00:09Z"}, failed))
    assert report.format == "Amazon Bedrock invocation log"
    assert lengths(requests) == [(107, 3)] * 2
    assert requests.seconds.tolist() == [0, 9]
    assert any("cacheReadInputTokenCount" in note for note in report.notes)
    assert sum(report.set_aside.values()) == 1


def test_aiperf_of_2025():
    """One time a request, the short name of the first token's; the summary is refused."""

    def record(second, phase="profiling", **metrics):
        values = {"input_sequence_length": {"value": 7, "unit": "tokens"},
                  "output_sequence_length": {"value": 3, "unit": "tokens"},
                  "ttft": {"value": 250.0, "unit": "ms"}, **metrics}  # fmt: skip
        stamp = BEGUN * 10**9 + second * 10**9 + 7
        return {"metadata": {"timestamp_ns": stamp, "credit_phase": phase}, "metrics": values}

    slow = {"request_latency": {"value": 1.5, "unit": "s"}}
    requests, report = read(lines(record(0, "warmup"), record(1, **slow), record(3, **slow)))
    assert lengths(requests) == [(7, 3)] * 2
    assert requests.seconds.tolist() == [0, 2]
    assert (requests.ttft.tolist(), requests.latency.tolist()) == ([0.25] * 2, [1.5] * 2)
    assert sum(report.set_aside.values()) == 1
    statistics = {"unit": "ms", "avg": 5.0, "p99": 9.0}
    names = ("input_sequence_length", "output_sequence_length", "request_latency")
    with pytest.raises(InputError, match=r"give profile_export\.jsonl"):
        read(json.dumps(dict.fromkeys(names, statistics)))


def test_ollama():
    """Nanoseconds; an answer is written down at its end; pieces of a stream are none."""

    def done(at, lasted):
        return {"model": "m", "created_at": f"2025-01-01T00:00:{at}Z", "done": True,
                "total_duration": lasted * 10**9, "load_duration": 0, "prompt_eval_count": 7,
                "prompt_eval_duration": 500_000_000, "eval_count": 3}  # fmt: skip

    piece = {"model": "m", "created_at": "2025-01-01T00:00:01Z", "response": "x", "done": False}
    requests, report = read(lines(done("05.5", 4), piece, done("06.5", 2)))
    assert report.format == "Ollama answers"
    assert requests.seconds.tolist() == [0, 3]
    assert (requests.ttft.tolist(), requests.latency.tolist()) == ([0.5] * 2, [4, 2])
    assert report.rows_kept == 2


def test_llama_cpp():
    """What the cache had counts; durations in milliseconds."""
    timings = {"prompt_n": 4, "cache_n": 3, "prompt_ms": 250.0, "predicted_n": 3,
               "predicted_ms": 1250.0}  # fmt: skip
    whole = {"tokens_evaluated": 9, "timings": {**timings, "cache_n": 0}}
    requests, report = read(lines({"timings": timings}, whole))
    assert report.format == "llama.cpp server answers"
    assert lengths(requests) == [(7, 3), (9, 3)]
    assert (requests.ttft.tolist(), requests.latency.tolist()) == ([0.25] * 2, [1.5] * 2)


def test_turns_of_a_session():
    """A later turn comes its delay after the one before; one that nothing leads to is counted."""
    first = {"session_id": "a", "timestamp": 1000, "input_length": 7, "output_length": 3}
    later = {"session_id": "a", "delay": 500, "input_length": 9, "output_length": 3}
    lost = {**later, "session_id": "b"}
    requests, report = read(lines(first, later, lost, later))
    assert report.format == "Mooncake trace"
    assert requests.seconds.tolist() == [0, 0.5, 1]
    assert any("2 turns follow another of their session" in note for note in report.notes)
    assert sum(report.set_aside.values()) == 1
