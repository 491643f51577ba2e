"""Known logs: each layout's units, names and ways to fail, from its documentation."""

import io
import json

import numpy as np
import pytest

from engine import InputError
from engine.traces import read_requests
from engine.traces.formats import llm_optimizer

TOKENS = "is not a whole number of tokens from 1 to 1,000,000,000"
FAILED = "is not blank: the request failed"


def read(text, **how):
    return read_requests(io.BytesIO(text.encode()), **how)


def lines(*objects):
    return "\n".join(json.dumps(value) for value in objects)


def lengths(requests):
    return list(zip(requests.prompt.tolist(), requests.output.tolist(), strict=True))


BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"


def test_burstgpt():
    """Whole seconds rebased, failures by reason, the log type as class."""
    requests, report = read(
        BURST
        + "5,ChatGPT,472,18,490,Conversation log\n5,GPT-4,1,2,3,API log\n"
        + "45,ChatGPT,100,0,100,API log\n1005,GPT-4,7,8,15,API log\n45,GPT-4,0,8,8,API log\n"
    )
    assert report.format == "BurstGPT trace"
    assert requests.seconds.tolist() == [0, 0, 1000]
    assert lengths(requests) == [(472, 18), (1, 2), (7, 8)]
    assert [requests.classes[number] for number in requests.class_of] == [
        "Conversation log",
        "API log",
        "API log",
    ]
    assert report.set_aside == {
        "Response tokens is not above 0: the request failed": 1,
        f"Request tokens {TOKENS}": 1,
    }
    assert (report.time_unit, report.ties, report.largest_burst) == ("s", 1, 2)
    assert requests.latency is None
    assert requests.ttft is None


def test_burstgpt_3():
    """Eight columns in another order: by name; the elapsed time is the whole latency."""
    requests, report = read(
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,"
        "Log Type\n3.5,9,2.25,GPT-4,10,20,30,API log\n0.5,9,,GPT-4,11,21,32,API log\n"
    )
    assert requests.seconds.tolist() == [0, 3]
    assert lengths(requests) == [(11, 21), (10, 20)]
    np.testing.assert_array_equal(requests.latency, [np.nan, 2.25])
    assert report.measured == {"ttft": 0, "latency": 1}


def test_mooncake():
    """Milliseconds, in JSON lines that may be cut off."""
    one = {"timestamp": 3000, "input_length": 10, "output_length": 5, "hash_ids": [0]}
    text = lines(one, {**one, "timestamp": 27482, "output_length": 0}, {**one, "timestamp": 4500})
    requests, report = read(text + '\n{"timestamp": 9000, "input_le')
    assert requests.seconds.tolist() == [0, 1.5]
    assert requests.row.tolist() == [0, 2]
    assert (report.rows_in, report.time_unit) == (4, "ms")
    assert report.set_aside == {f"output_length {TOKENS}": 1, "not a JSON object": 1}
    with pytest.raises(InputError, match=r"row 2 \(line 2 of the file\), output_length: .*'0'"):
        read(text, strict=True)


def test_mooncake_conversation_trace(shared):
    """12,031 requests at 1,180 stamps over 3,537 s; 5,570 above 8,192 tokens are kept."""
    requests, report = read_requests(
        shared / "traces" / "mooncake_conversation_trace.jsonl", strict=True
    )
    assert (report.format, report.time_unit) == ("Mooncake trace", "ms")
    assert len(requests) == report.rows_in == 12_031
    assert (report.distinct_arrivals, report.largest_burst) == (1_180, 28)
    assert report.span_s == pytest.approx(3537, abs=1)
    assert report.rate == pytest.approx(3.40, abs=0.005)
    assert int((requests.prompt + requests.output > 8192).sum()) == 5_570
    assert (requests.prompt.min(), requests.prompt.max()) == (891, 126_195)
    assert requests.prompt.mean() == pytest.approx(12_035, abs=1)
    assert (requests.output.min(), requests.output.max()) == (1, 2_000)
    assert any("arrival times are coarse: 1,180" in note for note in report.notes)


def test_bailian_is_in_seconds():
    """The same names as Mooncake's, told apart by the chat_id; the type is the class."""
    one = {"chat_id": 1, "parent_chat_id": -1, "timestamp": 61.25, "input_length": 10,
           "output_length": 5, "type": "text", "turn": 1, "hash_ids": [3]}  # fmt: skip
    requests, report = read(lines(one, {**one, "timestamp": 62.5, "type": "search"}))
    assert (report.format, report.time_unit) == ("Qwen-Bailian trace", "s")
    assert requests.seconds.tolist() == [0, 1.25]
    assert requests.classes == ("text", "search")


HUMAN = {"from": "human", "value": "x" * 9}
GPT = {"from": "gpt", "value": "y" * 4}
TALKS = {
    "ShareGPT": ({"conversations": [HUMAN, GPT]}, (3, 1)),
    "system first": ({"conversations": [{"from": "system", "value": "s"}, HUMAN, GPT]}, (3, 1)),
    "capitals": ({"conversations": [{"from": "USER", "value": "x"}, GPT]}, (1, 1)),
    "LMSYS": (
        {"conversation": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        (1, 1),
    ),
    "bare strings": ({"conversations": ["x" * 5, "y" * 5]}, (2, 2)),
    "asked twice": ({"conversations": [HUMAN, HUMAN, GPT]}, (5, 1)),
    "later turns": ({"conversations": [HUMAN, GPT, HUMAN, GPT, HUMAN, GPT]}, (3, 1)),
}


@pytest.mark.parametrize("case", TALKS.values(), ids=TALKS)
def test_conversations_are_estimated(case):
    """Four characters a token, rounded up, up to the first answer; labelled as an estimate."""
    talk, expected = case
    for text in (json.dumps([talk]), json.dumps([talk], indent=1), lines(talk, talk)):
        requests, report = read(text)
        assert set(lengths(requests)) == {expected}
        assert any("4 characters of English" in note for note in report.notes)
        assert any("a backlog" in note for note in report.notes)


def test_conversations_without_an_exchange_are_counted():
    """No answer, no question before it, an empty answer, no list: each a row set aside."""
    good = {"conversations": [HUMAN, GPT, HUMAN, GPT]}
    bad = [[HUMAN], [GPT, HUMAN], [], None, "talk", [{"value": "x"}, 5]]
    empty = {"conversations": [HUMAN, {"from": "gpt", "value": ""}]}
    requests, report = read(json.dumps([good, *({"conversations": b} for b in bad), empty]))
    assert len(requests) == 1
    assert report.set_aside == {
        "the conversation is not one that has a question and an answer": 6,
        f"output {TOKENS}": 1,
    }
    assert "1 later answers are no requests here: the first of each is" in report.notes


def test_wildchat_has_a_time():
    """The conversation's own, as a date."""
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    requests, report = read(
        lines(
            {"conversation": talk, "timestamp": "2023-04-09T00:02:53+00:00"},
            {"conversation": talk, "timestamp": "2023-04-09T00:03:53+00:00"},
        )
    )
    assert requests.seconds.tolist() == [0, 60]
    assert report.time_unit == "date and time"


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


def test_vidur_replay():
    """Seconds; the names of both schemas."""
    requests, _ = read("arrived_at,num_prefill_tokens,num_decode_tokens\n2.000001,5,6\n1.0,7,8\n")
    assert requests.seconds.tolist() == pytest.approx([0, 1.000001], abs=1e-12)
    assert lengths(requests) == [(7, 8), (5, 6)]
    requests, _ = read("Time,PromptTokenCount,GeneratedTokenCount\n1,5,6\n4,7,8\n")
    assert requests.seconds.tolist() == [0, 3]


def test_vidur_lengths(shared):
    """28,257 pairs without a time: a backlog, said so."""
    requests, report = read_requests(
        shared / "traces" / "vidur_arxiv_summarization_4k.csv", strict=True
    )
    assert report.format == "Vidur length table"
    assert len(requests) == 28_257
    assert (requests.prompt.min(), requests.prompt.max()) == (1, 4054)
    assert (requests.output.min(), requests.output.max()) == (5, 4056)
    assert (requests.prompt + requests.output).max() <= 4096
    assert (report.rate, report.distinct_arrivals) == (None, 1)
    assert any("no arrival times: a backlog" in note for note in report.notes)


def test_splitwise():
    """Seconds; what is no language-model request is counted."""
    requests, report = read(
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,"
        "token_size\n0,2,0,0.5,1,374,44\n1,1,0,0.75,1,9,9\n2,2,0,1.5,1,396,109\n"
    )
    assert requests.seconds.tolist() == [0, 1]
    assert report.set_aside == {"request_type is not 2, that of a language model": 1}


def test_llmservingsim():
    """Nanoseconds; sessions and single requests mixed, followers at their earliest."""
    flat = {"input_toks": 100, "output_toks": 20, "arrival_time_ns": 1_500_000_000}
    calls = [
        {"input_toks": 10, "output_toks": 2, "tool_duration_ns": 250_000_000},
        {"input_toks": 30, "output_toks": 3, "tool_duration_ns": 0},
        {"input_toks": 40},
    ]
    session = {"session_id": "a", "arrival_time_ns": 500_000_000, "sub_requests": calls}
    for text in (lines(flat, session), lines(session, flat)):
        requests, report = read(text)
        assert requests.seconds.tolist() == [0, 0.25, 1]
        assert lengths(requests) == [(10, 2), (30, 3), (100, 20)]
        assert (report.rows_in, report.set_aside) == (4, {f"output_toks {TOKENS}": 1})
        assert any(note.startswith("2 requests follow another") for note in report.notes)


def test_llmservingsim_result():
    """Names with spaces, a quoted list with commas, nanoseconds throughout."""
    requests, report = read(
        "instance id,request id,model,input,output,arrival,end_time,latency,queuing_delay,TTFT,"
        'TPOT,ITL\n0,0,m,1472,3,4000000,9,1078776464,0,51162321,7,"[7780422, 7779379]"\n'
        '0,1,m,9,2,1004000000,9,140000000,0,15000000,1,"[1]"\n'
    )
    assert report.set_aside == {}
    assert requests.seconds.tolist() == [0, 1]
    assert requests.ttft.tolist() == pytest.approx([0.051162321, 0.015])
    assert requests.latency.tolist() == pytest.approx([1.078776464, 0.14])


def test_servegen():
    """What the tool writes: seconds."""
    header = "request_id,timestamp,input_tokens,output_tokens\n"
    requests, report = read(header + "0,0.5,10,20\n1,1.25,15,25\n")
    assert report.format == "ServeGen workload"
    assert requests.seconds.tolist() == [0, 0.75]


METRICS = """# HELP vllm:request_prompt_tokens Number of prefill tokens processed.
# TYPE vllm:request_prompt_tokens histogram
vllm:request_prompt_tokens_bucket{le="10.0",engine="0"} 50.0
vllm:request_prompt_tokens_bucket{engine="0",le="20.0"} 100.0
vllm:request_prompt_tokens_bucket{le="+Inf",engine="0"} 100.0
vllm:request_prompt_tokens_sum{engine="0"} 900.0
vllm:request_generation_tokens_bucket{le="1.0",engine="0"} 0.0
vllm:request_generation_tokens_bucket{le="5.0",engine="0"} 90.0
vllm:request_generation_tokens_bucket{le="+Inf",engine="0"} 100.0
vllm:num_requests_running{engine="0"} 3.0
"""


def test_prometheus():
    """The laws of the buckets: half up to 10, none above 20; what lies beyond is said."""
    requests, report = read(METRICS)
    assert len(requests) == report.rows_in == 100
    assert np.sort(requests.prompt)[[0, 49, 50, 99]].tolist() == [1, 10, 11, 20]
    assert (requests.output.min(), requests.output.max()) == (2, 5)
    assert not (requests.output[1:] >= requests.output[:-1]).all()
    assert "10 outputs above 5 tokens are taken as that long" in report.notes
    assert any(
        "the mean of the prompts is" in note and "9 in truth" in note for note in report.notes
    )
    again, _ = read(METRICS)
    assert again.output.tolist() == requests.output.tolist()
    two = METRICS + METRICS.replace('engine="0"', 'engine="1"')
    assert len(read(two)[0]) == 200
    with pytest.raises(InputError, match="hold no counts of vllm:request_generation_tokens"):
        read(METRICS.replace("generation", "x"))


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


def test_tokensim_pairs():
    """Lengths, with arrivals where the third part has them; odd rows are counted."""
    requests, report = read("[[100, 20], [50, 8, null], [7, 3, {}]]")
    assert report.format == "TokenSim pairs"
    assert (requests.prompt.tolist(), requests.output.tolist()) == ([100, 50, 7], [20, 8, 3])
    assert report.span_s == 0
    requests, report = read('[[1, 2, {"arrival_time": 4.5}], [3, 4, {"arrival_time": 2}], [5, 6]]')
    assert requests.prompt.tolist() == [3, 1]
    assert requests.seconds.tolist() == [0, 2.5]
    assert sum(report.set_aside.values()) == 1
    _, report = read('[[1, 2, {"inter_arrival_time": 3}], [1], [2, 0], ["a", 1], 5, [1, 2, 3]]')
    assert (report.rows_in, report.rows_kept) == (6, 1)
    assert "inter_arrival_time" in report.notes[-1]
