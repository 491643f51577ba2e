"""Results of benchmarks: each layout's units, names and ways to fail, from its documentation."""

import json

import numpy as np
import pytest

from engine import InputError
from engine.traces.formats import llm_optimizer
from tests.engine.traces.reading import FAILED, TOKENS, lengths, lines, read

VLLM = {
    "date": "20250101", "backend": "vllm", "model_id": "m", "num_prompts": 3, "completed": 2,
    "request_rate": "inf", "total_input_tokens": 60, "request_throughput": 1.0,
    "request_goodput:": None, "input_lens": [10, 20, 30], "output_lens": [3, 0, 1],
    "ttfts": [0.5, 0.0, 0.25], "itls": [[0.25, 0.5], [], []], "start_times": [100.5, 101.0, 100.0],
    "errors": ["", "Bad Gateway", ""],
}  # fmt: skip
SGLANG = {
    "backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "completed": 2,
    "total_input_tokens": 30, "total_output_tokens_retokenized": 5, "request_throughput": 1.0,
    "input_lens": [10, 20], "output_lens": [2, 3], "ttfts": [0.5, 0.25],
    "itls": [[0.125], [0.125, 0.25]], "errors": ["", ""],
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_vllm_benchmark(indent):
    """Latency is ttft plus the gaps; a failed request is counted; starts become arrivals."""
    requests, report = read(json.dumps(VLLM, indent=indent))
    assert report.format == "vLLM benchmark result"
    assert requests.seconds.tolist() == [0, 0.5]
    assert lengths(requests) == [(30, 1), (10, 3)]
    assert requests.ttft.tolist() == [0.25, 0.5]
    assert requests.latency.tolist() == [0.25, 1.25]
    assert requests.row.tolist() == [2, 0]
    assert report.set_aside == {f"error {FAILED}": 1}


def test_vllm_benchmark_of_older_versions():
    """Without starts a backlog, said so; without gaps no latency; ttft 0 is none."""
    old = {key: value for key, value in VLLM.items() if key not in ("start_times", "itls")}
    requests, report = read(json.dumps(old))
    assert requests.seconds.tolist() == [0, 0]
    assert report.time_unit == "none"
    assert any("no start_times" in note for note in report.notes)
    assert requests.latency is None
    requests, _ = read(json.dumps({**VLLM, "ttfts": [0.0, 0.0, 0.25]}))
    np.testing.assert_array_equal(requests.latency, [0.25, np.nan])


def test_sglang_benchmark():
    """One line a run; a second run has its own clock and is refused."""
    requests, report = read(lines(SGLANG) + "\n")
    assert report.format == "SGLang benchmark result"
    assert lengths(requests) == [(10, 2), (20, 3)]
    assert requests.latency.tolist() == [0.625, 0.625]
    with pytest.raises(InputError, match="several benchmark runs, each with its own clock"):
        read(lines(SGLANG, SGLANG))


@pytest.mark.parametrize(
    ("result", "option"), [(VLLM, "--save-result --save-detailed"), (SGLANG, "--output-details")]
)
def test_benchmark_without_requests(result, option):
    """Says that there are only averages and which option writes the requests."""
    averages = {key: value for key, value in result.items() if not isinstance(value, list)}
    with pytest.raises(InputError, match=f"only averages, over 2 requests: .*{option}"):
        read(json.dumps(averages))


def test_benchmark_with_lists_of_different_lengths():
    """Is damaged, not cut to the shortest."""
    with pytest.raises(InputError, match="ttfts has 1 entries, input_lens 3"):
        read(json.dumps({**VLLM, "ttfts": [0.5]}))


def guide(start, **more):
    timings = {
        "request_start": start,
        "first_token_iteration": start + 0.25,
        "request_end": start + 2,
    }
    return {"info": {"timings": timings}, "input_metrics": {"text_tokens": 10},
            "output_metrics": {"text_tokens": 4}, **more}  # fmt: skip


def test_guidellm():
    """Only successful requests count; several benchmarks follow on one clock."""
    first = {
        "successful": [guide(1_700_000_000.5)],
        "incomplete": [guide(1_700_000_001.0)],
        "errored": [guide(1_700_000_001.0), {}],
    }
    second = {"successful": [guide(1_700_000_060.5, prompt_tokens=11)], "incomplete": []}
    report = {"metadata": {}, "benchmarks": [{"requests": first}, {"requests": second}]}
    requests, said = read(json.dumps(report))
    assert requests.seconds.tolist() == [0, 60]
    assert lengths(requests) == [(10, 4), (11, 4)]
    assert requests.ttft.tolist() == [0.25, 0.25]
    assert requests.latency.tolist() == [2, 2]
    assert said.set_aside == {"status is not successful": 3}
    assert "2 benchmarks follow each other: a window picks one" in said.notes


def test_guidellm_of_earlier_versions():
    """Flat times and tokens; a report that keeps a sample says so."""
    request = {"prompt_tokens": 8, "output_tokens": 3, "start_time": 50.0,
               "first_token_time": 50.5, "end_time": 52.0}  # fmt: skip
    benchmark = {"requests": {"successful": [request]}, "request_totals": {"total": 40}}
    requests, said = read(json.dumps({"benchmarks": [benchmark]}, indent=2))
    assert (requests.ttft[0], requests.latency[0]) == (0.5, 2)
    assert "the report keeps 1 of the 40 requests that were sent" in said.notes
    with pytest.raises(InputError, match="holds no requests, only their statistics"):
        read(json.dumps({"benchmarks": [{"requests": {"successful": []}}]}))


def test_inference_perf():
    """Both places for tokens; an error counts; durations from start, tokens and end."""
    old = {"start_time": 10.5, "end_time": 12.0, "request": "{}", "error": None,
           "info": {"input_tokens": 20, "output_tokens": 2,
                    "output_token_times": [11.0, 12.0]}}  # fmt: skip
    new = {"start_time": 11.0, "end_time": 13.0, "error": None, "info": {
        "request_metrics": {"text": {"input_tokens": 7}},
        "response_metrics": {"output_tokens": 2, "output_token_times": [12.0, 13.0]}}}  # fmt: skip
    failed = {**old, "info": None, "error": {"error_type": "Timeout", "error_msg": "late"}}
    requests, report = read(json.dumps([failed, old, new]))
    assert report.format == "inference-perf per-request metrics"
    assert requests.seconds.tolist() == [0, 0.5]
    assert lengths(requests) == [(20, 2), (7, 2)]
    assert requests.ttft.tolist() == [0.5, 1.0]
    assert requests.latency.tolist() == [1.5, 2.0]
    assert report.set_aside == {f"error {FAILED}": 1}
    with pytest.raises(InputError, match=r"give per_request_lifecycle_metrics\.json"):
        read(json.dumps({"successes": {"count": 3}, "failures": {"count": 0}}))


def aiperf(start, metrics=None, error=None, **metadata):
    measured = {
        "input_sequence_length": {"value": 550, "unit": "tokens"},
        "output_sequence_length": {"value": 9, "unit": "tokens"},
        "time_to_first_token": {"value": 250.0, "unit": "ms"},
        "request_latency": {"value": 1.5, "unit": "s"},
    }
    metadata = {"request_start_ns": start, "benchmark_phase": "profiling", **metadata}
    return {
        "metadata": metadata, "metrics": measured if metrics is None else metrics, "error": error
    }  # fmt: skip


def test_aiperf():
    """Nanoseconds since 1970 to the last digit; values in their own units; failures by reason."""
    start = 1_759_813_207_532_900_363
    requests, report = read(
        lines(
            aiperf(start, benchmark_phase="warmup"),
            aiperf(start + 1_000_000_001),
            aiperf(start, metrics={}, error={"code": 499}),
            aiperf(start, was_cancelled=True),
            aiperf(start + 7, metrics={}),
            aiperf(start),
        )
    )
    assert requests.seconds.tolist() == [0, 1.000000001]
    assert lengths(requests) == [(550, 9), (550, 9)]
    assert requests.ttft.tolist() == [0.25, 0.25]
    assert requests.latency.tolist() == [1.5, 1.5]
    assert report.time_unit == "ns"
    assert report.set_aside == {
        "metadata.benchmark_phase is not profiling: it is warm-up": 1,
        f"error {FAILED}": 1,
        "metadata.was_cancelled is not false": 1,
        f"metrics.input_sequence_length.value {TOKENS}": 1,
    }


def test_genai_bench():
    """Durations in the file's unit; no arrivals; errors count."""
    one = {"ttft": 500, "e2e_latency": 1500, "num_input_tokens": 100, "num_output_tokens": 11,
           "error_code": None}  # fmt: skip
    failed = {**one, "error_code": 503, "num_output_tokens": None}
    result = {"aggregated_metrics": {}, "individual_request_metrics": [one, failed]}
    requests, report = read(json.dumps({**result, "_time_unit": "ms"}))
    assert (requests.ttft[0], requests.latency[0]) == (0.5, 1.5)
    assert report.set_aside == {f"error_code {FAILED}": 1}
    assert (report.time_unit, report.rate) == ("none", None)
    assert read(json.dumps(result))[0].latency[0] == 1500
    with pytest.raises(InputError, match="its _time_unit is days"):
        read(json.dumps({**result, "_time_unit": "days"}))


def test_llm_optimizer():
    """A run under `results`; averages only, or several runs, are refused by what they are."""
    run = json.loads(llm_optimizer.EXAMPLE)
    requests, report = read(json.dumps(run))
    assert report.format == "llm-optimizer result"
    assert requests.prompt.tolist() == [10, 20]
    assert requests.ttft.tolist() == [0.5, 0.25]
    with pytest.raises(InputError, match="several benchmark runs"):
        read(llm_optimizer.EXAMPLE * 2)
    lists = ("input_lens", "output_lens", "ttfts", "itls")
    averages = {name: value for name, value in run["results"].items() if name not in lists}
    with pytest.raises(InputError, match="holds only averages, over 2 requests"):
        read(json.dumps({**run, "results": averages}))


def test_requests_that_waited_at_the_client():
    """Arrived before they were sent; their latencies count from then."""
    held = {**VLLM, "queue_times": [0.0, 0.0, 0.75], "start_times": [100.0, 100.5, 101.0]}
    requests, report = read(json.dumps(held))
    assert requests.seconds.tolist() == [0, 0.25]
    assert requests.ttft.tolist() == [0.5, 1.0]
    assert requests.latency.tolist() == [1.25, 1.0]
    assert any("1 requests waited at the client" in note for note in report.notes)


def test_latencies_go_before_sums():
    """Where a result has them, streamed or not."""
    whole = {**VLLM, "ttfts": [0.0, 0.0, 0.25], "latencies": [2.5, 0.0, 0.5]}
    requests, report = read(json.dumps(whole))
    assert requests.latency.tolist() == [0.5, 2.5]
    assert report.measured == {"ttft": 1, "latency": 2}


def test_sglang_with_times():
    """Should a version write them; without, no newer version is promised."""
    requests, _ = read(json.dumps({**SGLANG, "arrival_times": [5.0, 7.5]}))
    assert requests.seconds.tolist() == [0, 2.5]
    _, report = read(json.dumps(SGLANG))
    assert not any("newer versions" in note for note in report.notes)


def test_inference_perf_with_images():
    """The server's count, where it has one; that it lacks is said."""
    counted = {"output_tokens": 3, "server_usage": {"prompt_tokens": 900}}
    sent = {"text": {"input_tokens": 7}, "image": {"count": 2}}
    info = {"request_metrics": sent, "response_metrics": counted}
    one = {"start_time": 10.5, "end_time": 12.0, "info": info, "error": None}
    unknown = {**info, "response_metrics": {"output_tokens": 3}}
    requests, report = read(json.dumps([one, {**one, "info": unknown}]))
    assert lengths(requests) == [(900, 3), (7, 3)]
    assert sum("hold images or sound" in note for note in report.notes) == 2
