"""Any table: common names, names that the user maps, failures, measured times, classes."""

import io

import numpy as np
import pytest

from engine import InputError
from engine.traces import read_requests
from tests.engine.traces.reading import lengths, read

NAMES = {
    "OpenAI": "created,model,prompt_tokens,completion_tokens",
    "Langfuse": "startTime,model,promptTokens,completionTokens",
    "Weka": "t,id,in,out",
    "spaces and capitals": "Request Time,User,Input Tokens,Output Tokens",
    "isl": "timestamp,x,ISL,OSL",
    "Vidur intervals": "arrival_time,x,num_prefill_tokens,num_decode_tokens",
    "BLIS": "arrival_time_us,x,input_tokens,output_tokens",
}


@pytest.mark.parametrize("header", NAMES.values(), ids=NAMES)
def test_common_names(header):
    """However they are spelled."""
    requests, report = read(f"{header}\n10,7,20,30\n40,7,50,60\n")
    assert report.format == "table with named columns"
    assert requests.prompt.tolist() == [20, 50]
    assert requests.output.tolist() == [30, 60]
    assert requests.seconds[1] > 0


def test_columns_can_be_mapped():
    """By the user, for every role; what is not there is named."""
    text = "when,a,b,kind,first_ms,prompt_tokens\n1,2,3,x,500,99\n2,4,5,y,250,99\n"
    names = {"arrival": "When", "prompt": "a", "output": "b", "class": "kind", "ttft": "first_ms"}
    requests, _ = read(text, columns=names)
    assert requests.seconds.tolist() == [0, 1]
    assert requests.prompt.tolist() == [2, 4]
    assert requests.classes == ("x", "y")
    assert requests.ttft.tolist() == [0.5, 0.25]
    with pytest.raises(InputError, match="there is no c to be the output; found: when, a, b"):
        read(text, columns={"output": "c"})
    with pytest.raises(InputError, match="no name says which is the output: map one of when"):
        read(text, columns={"prompt": "a"})
    with pytest.raises(InputError, match="not to size"):
        read(text, columns={"size": "a"})


def test_failed_requests_of_any_table():
    """A status that names a failure, an HTTP error, an error that is not blank."""
    text = "ts,prompt_tokens,completion_tokens,status,error\n"
    rows = ["0,1,1,ok,", "1,1,1,200,null", "2,1,1,failed,", "3,1,1,502,", "4,1,1,ok,timeout"]
    requests, report = read(text + "\n".join(rows))
    assert requests.row.tolist() == [0, 1]
    assert report.set_aside == {
        "status is not that of a success: the request failed": 2,
        "error is not blank: the request failed": 1,
    }


def test_durations_from_moments():
    """Start, first token and end on one clock; blank, earlier or without one: not measured."""
    text = "id,startTime,completionStartTime,endTime,promptTokens,completionTokens\n"
    day = "2024-01-01 00:00:"
    rows = [
        f"a,{day}01,{day}01.25,{day}03,5,6",
        f"b,{day}00,,{day}02Z,5,6",
        f"c,{day}05,x,{day}04,5,6",
    ]
    requests, report = read(text + "\n".join(rows))
    assert report.set_aside == {}
    assert requests.seconds.tolist() == [0, 1, 5]
    np.testing.assert_array_equal(requests.ttft, [np.nan, 0.25, np.nan])
    np.testing.assert_array_equal(requests.latency, [2, 2, np.nan])
    for start in (0.5, 1_700_000_000_000_000_001):  # decimals, and nanoseconds since 1970
        text = f"start_ns,end_ns,isl,osl\n{start},{start + 2_000_000_000},5,6\n{start},,5,6\n"
        np.testing.assert_array_equal(read(text)[0].latency, [2, np.nan])
    assert read("start_ns,end_ms,isl,osl\n1,2,5,6\n")[0].latency is None
    assert read("end_time,isl,osl\n1,5,6\n")[0].latency is None
    requests, _ = read("t,done,isl,osl\n1.5,4,5,6\n", columns={"end": "done"})
    assert requests.latency.tolist() == [2.5]
    requests, _ = read("t,end_time,latency,isl,osl\n1.5,4,9,5,6\n")
    assert requests.latency.tolist() == [9]


BLIS = (
    "request_id,client_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,"
    "streaming,input_tokens,output_tokens,text_tokens,image_tokens,audio_tokens,video_tokens,"
    "reason_ratio,model,deadline_us,server_input_tokens,arrival_time_us,send_time_us,"
    "first_chunk_time_us,last_chunk_time_us,num_chunks,status,error_message,finish_reason"
)


def test_blis_trace():
    """All its columns: microseconds, the SLO class, measured times, and only what was answered."""
    values = {"input_tokens": 100, "output_tokens": 5, "server_input_tokens": 120}
    times = {"arrival_time_us": 10**6, "first_chunk_time_us": 1_250_000}
    answered = {**values, **times, "last_chunk_time_us": 3 * 10**6, "slo_class": "batch"}
    failed = [{**answered, "status": status} for status in ("timeout", "incomplete", "error")]
    failed.append({**answered, "status": "ok", "error_message": "boom"})
    rows = [{**answered, "status": "ok", "num_chunks": 5}, *failed]
    names = BLIS.split(",")
    text = "\n".join([BLIS, *(",".join(str(row.get(name, "")) for name in names) for row in rows)])
    requests, report = read_requests(io.BytesIO(text.encode()))
    assert lengths(requests) == [(100, 5)]
    assert (requests.ttft.tolist(), requests.latency.tolist()) == ([0.25], [2.0])
    assert requests.classes == ("batch",)
    assert sum(report.set_aside.values()) == 4


def test_decimal_commas():
    """Where semicolons part the fields, a comma is a point, quoted or not."""
    text = 'prompt_tokens;output_tokens;start_s\n10;5;0,5\n"10";"5";"2,25"\n1,5;5;3,0\n'
    requests, report = read_requests(io.BytesIO(text.encode()))
    assert requests.seconds.tolist() == [0, 1.75]
    assert sum(report.set_aside.values()) == 1


def test_a_log_keeps_its_classes_writable():
    """Blank, unreadable and too many labels never cost a row."""
    header = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    rows = [f'{i},m,1,1,2,"kind, {i}"\n' for i in range(1200)] + ["1200,m,1,1,2,\n"]
    requests, report = read(header + "".join(rows))
    assert report.set_aside == {}
    assert len(requests) == 1201
    assert requests.classes[:2] == ("kind 0", "kind 1")
    assert len(requests.classes) <= 1001
    assert requests.classes[requests.class_of[1100]] == "other"
