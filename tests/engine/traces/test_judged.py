"""Rows that are no served requests: failures under any name, runs that sum up their calls."""

import pytest

from tests.engine.traces.reading import lines, read

FAILURES = {  # column: (a success, failures)
    "status_code": ("200", ["503", "429", "400.0"]),
    "http_status": ("200 OK", ["502 Bad Gateway", "HTTP/1.1 504 Gateway Timeout"]),
    "response_status": ("200", ["-3", "500"]),
    "outcome": ("served", ["shed", "rejected", "Timed out", "timed_out"]),
    "state": ("COMPLETED", ["CANCELLED", "FAILED_OOM", "STATUS_CODE_ERROR"]),
    "grpc_status": ("OK", ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED"]),
    "final_state": ("done", ["ServerError", "RateLimitExceeded"]),
    "finish_reason": ("length", ["error", "abort"]),
    "level": ("DEFAULT", ["ERROR", "critical"]),
    "resp_code": ("200", ["429"]),
    "sc_status": ("200", ["500"]),
    "failed": ("0", ["1"]),
    "success": ("true", ["false", "False"]),
    "is_ok": ("1", ["0"]),
    "cancelled": ("false", ["true"]),
    "errorMessage": ("", ["upstream closed"]),
    "exception": ("None", ["ValueError()"]),
    "error_type": ("null", ["overloaded_error"]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_set_aside(name):
    """And counted, in tables and in JSON."""
    good, bad = FAILURES[name]
    values = [good, *bad, good]
    rows = "".join(f'{i},7,3,"{value}"\n' for i, value in enumerate(values))
    objects = [{"ts": i, "isl": 7, "osl": 3, "reply": {name: v}} for i, v in enumerate(values)]
    for raw in (f"ts,isl,osl,{name}\n{rows}", lines(*objects)):
        requests, report = read(raw)
        assert requests.row.tolist() == [0, len(values) - 1]
        assert sum(report.set_aside.values()) == len(bad)


INNOCENT = {
    "model": ["error-3", "error-3"],
    "state": ["CA", "NY"],
    "error_rate": ["0.5", "0.25"],
    "timeout": ["60", "60"],
    "status": ["no error", "No_Error"],
    "errors": ["[]", "{}"],
    "requests": ["1", "1"],
    "code": ["200", "204"],
    "area_code": ["415", "999"],
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_says_nothing_of_failure_costs_no_row(name):
    """Settings, rates, names."""
    rows = "".join(f"{i},7,3,{value}\n" for i, value in enumerate(INNOCENT[name]))
    assert len(read(f"ts,isl,osl,{name}\n{rows}")[0]) == 2


def test_an_unknown_status_is_said():
    """It is taken for a success, which the user may see otherwise; a column can be ignored."""
    text = "ts,isl,osl,outcome\n0,7,3,ok\n1,7,3,degraded\n2,7,3,failed\n"
    requests, report = read(text)
    assert requests.row.tolist() == [0, 1]
    assert any("outcome degraded is taken for a success" in note for note in report.notes)
    requests, report = read(text, ignored=["outcome"])
    assert len(requests) == 3
    assert not any("outcome" in note for note in report.notes)


def test_sums_of_calls_are_set_aside():
    """A chain counts what its calls count."""
    text = "run_type,start_time,prompt_tokens,completion_tokens\n"
    rows = "chain,0.5,30,6\nllm,1,10,2\nllm,2,20,4\ntool,3,1,1\n"
    requests, report = read(text + rows)
    assert requests.prompt.tolist() == [10, 20]
    assert report.set_aside == {"run_type is not that of a model's call": 2}


def test_public_layouts_with_a_status_are_read_with_it():
    """Their names and a column more: its failures count."""
    for names in (
        "TIMESTAMP,ContextTokens,GeneratedTokens",
        "arrived_at,num_prefill_tokens,num_decode_tokens",
        "timestamp,input_tokens,output_tokens",
    ):
        first, second = ("2024-01-01 00:00:00", "2024-01-01 00:00:05") if "T," in names else (0, 5)
        raw = f"request_id,{names},status_code\na,{first},7,3,200\nb,{second},7,3,503\n"
        assert len(read(raw if names[0] == "t" else raw.replace("request_id", "x"))[0]) == 1
