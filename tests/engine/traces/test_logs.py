"""Traces and simulators' logs: each layout's units, names and ways to fail."""

import numpy as np
import pytest

from engine import InputError
from engine.traces import read_requests
from tests.engine.traces.reading import TOKENS, lengths, lines, read

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
