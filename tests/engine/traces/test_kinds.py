"""Kinds of files: packed, delimited, JSON in its shapes, Parquet; names and units of any table."""

import csv
import gzip
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.traces import read_requests, read_trace
from engine.traces.clock import unit_in
from engine.traces.head import look
from engine.traces.read import glance
from tests.engine.traces.test_logs import lengths

AZURE = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-12 00:00:00+00:00,5,1\r\n"
TABLE = "start_time,prompt_tokens,completion_tokens\n0,1,2\n3,4,5\n"


def read(raw, **how):
    return read_requests(io.BytesIO(raw if isinstance(raw, bytes) else raw.encode()), **how)


def as_parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def test_gzip_is_unpacked(tmp_path):
    """By its content, whatever its name; from a path as from an open file."""
    packed = gzip.compress(AZURE)
    (tmp_path / "trace.csv").write_bytes(packed)
    for source in (tmp_path / "trace.csv", io.BytesIO(packed)):
        workload, report = read_trace(source)
        assert (len(workload), report.format) == (1, "Azure LLM inference trace")


REFUSED = {
    "gzip cut off": (gzip.compress(AZURE)[:-9], "damaged or its end is missing"),
    "gzip of a pointer": (gzip.compress(b"version https://git-lfs.x"), "a Git LFS pointer"),
    "gzip of nothing": (gzip.compress(b""), "the file is empty"),
    "gzip twice": (gzip.compress(gzip.compress(AZURE)), "a gzip file within a gzip file"),
    "gzip of Parquet": (gzip.compress(as_parquet({"a": [1]})), "a Parquet file within"),
    "Parquet cut off": (as_parquet({"prompt": [1]})[:-20], "Parquet file that is damaged"),
    "Parquet without columns": (as_parquet({"a": [1]}), "no known format"),
    "JSON cut off": (b'{\n"benchmarks": [{"requests": {', "damaged or cut off at line 2"),
    "JSON list cut off": (b'[{"conversations": []}, {"conv', "damaged or cut off after 1 elements"),
    "JSON list with text behind": (b'[{"conversations": []}] x', "something behind the end"),
    "JSON list of lists": (b"[[3, 4, 5, 6]]", "an object with names, there is a list"),
    "empty JSON list": (b"[]", "there is nothing"),
    "JSON of an error": (b'{"error": "not found"}', "no known format"),
    "JSON nested too deeply": (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    "JSON lines all damaged": (b'{"a": 1\n{"b": 2\n', "damaged or cut off at line 2"),
    "page of an error": (b"<html><body>404", "a web page (HTML)"),
    "Latin-1 header": ("zeit,größe\n".encode("latin-1"), "not UTF-8 text"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_named(case):
    """One sentence on what the file is."""
    raw, said = case
    with pytest.raises(InputError) as error:
        read(raw)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_first_lines_may_be_damaged():
    """The format shows in a later line; the damaged one is counted."""
    good = '{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": []}'
    requests, report = read(f"{good[:20]}\n{good}\n{good.replace('0', '1000', 1)}")
    assert report.format == "Mooncake trace"
    assert requests.seconds.tolist() == [0, 1]
    assert report.set_aside == {"not a JSON object": 1}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter):
    """The most frequent in the first line; blank fields at either end stay fields."""
    text = "note,prompt_tokens,completion_tokens,user\n,1,2,\na,4,5,b\nc,6,7\n"
    requests, report = read(text.replace(",", delimiter))
    assert requests.prompt.tolist() == [1, 4]
    assert report.set_aside == {"wrong number of fields": 1}


def test_quotes_protect_delimiters_in_logs():
    """A comma within quotes parts no fields; a stray quote breaks its own row only."""
    requests, report = read(
        'user,prompt_tokens,completion_tokens\n"Doe, Jane",1,2\n"a ""b"", c",3,4\nx,"5",6\n'
        '"y,7,8\nz,9,10\n"v",1,2,3\n"w",1\n'
    )
    assert requests.prompt.tolist() == [1, 3, 5, 9]
    assert report.set_aside == {"wrong number of fields": 3}


cells = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=5)


@given(st.lists(st.tuples(cells, st.integers(1, 99), cells), min_size=1, max_size=6))
def test_quoted_cells_are_read_as_they_were_written(rows):
    """Whatever a spreadsheet puts in quotes, the numbers between come out."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["note", "prompt_tokens", "completion_tokens", "user"])
    writer.writerows([before, number, 1, after] for before, number, after in rows)
    requests, report = read(file.getvalue())
    assert requests.prompt.tolist() == [number for _, number, _ in rows]
    assert report.set_aside == {}


def test_first_values_may_be_blank():
    """A column of dates is one, although its first rows have none."""
    text = "created_at,prompt_tokens,completion_tokens\n,1,1\n\n2024-01-01 00:00:00,1,1\n"
    assert read(text)[1].time_unit == "date and time"
    when = pa.array([None, 1_700_000_000], pa.timestamp("s"))
    raw = as_parquet({"created_at": when, "prompt_tokens": [1, 2], "output_tokens": [1, 2]})
    assert read(raw)[1].time_unit == "date and time"


def test_semicolons_are_read_as_a_table():
    """Our own names too; the canonical CSV is with commas only."""
    requests, report = read("arrival;prompt;output\n1;2;3\n5;6;7\n")
    assert report.format == "table with named columns"
    assert requests.seconds.tolist() == [0, 4]


def test_json_shapes_are_equal():
    """Lines, a list, a list written over many lines."""
    rows = [{"ts": 5.5, "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
            {"ts": 6.0, "usage": {"prompt_tokens": 3, "completion_tokens": 4}}]  # fmt: skip
    for text in ("\n".join(map(json.dumps, rows)), json.dumps(rows), json.dumps(rows, indent=2)):
        requests, _ = read(text)
        assert requests.seconds.tolist() == [0, 0.5]
        assert requests.prompt.tolist() == [1, 3]


def test_result_in_one_line_is_one_document():
    """So that it is decoded once; two lines are lines."""
    assert look(io.BytesIO(b'{"a": 1}')).shape == "document"
    assert look(io.BytesIO(b'{"a": 1}\n')).shape == "document"
    assert look(io.BytesIO(b'{"a": 1}\n{"a": 2}')).shape == "lines"


def test_parquet():
    """Dates, whole and decimal numbers, blanks; the same as the table in text."""
    when = pa.array([1_700_000_000_000_001, 1_700_000_001_500_001, None], pa.timestamp("us", "UTC"))
    requests, report = read(
        as_parquet({"time": when, "input_tokens": [1, 2, 3], "output_tokens": [1.0, 2.0, 3.0]})
    )
    assert requests.seconds.tolist() == [0, 1.5]
    assert report.time_unit == "date and time"
    assert report.set_aside == {
        "time is not a date and time such as 2023-11-16 18:15:46.6805900": 1
    }
    _, report = read(
        as_parquet(
            {"TIMESTAMP": ["2024-01-01 00:00:00"], "ContextTokens": [1], "GeneratedTokens": [2]}
        )
    )
    assert report.format == "Azure LLM inference trace"


def test_ties_stay_in_the_order_of_the_file():
    """Also among so many rows that an unstable sort would mix them."""
    stamps = [(7 * row) % 5 for row in range(2000)]
    text = "".join(f"{stamp},{row + 1},1\n" for row, stamp in enumerate(stamps))
    requests, _ = read("ts,prompt_tokens,output_tokens\n" + text)
    assert requests.row.tolist() == sorted(range(2000), key=lambda row: (stamps[row], row))
    assert (requests.prompt == requests.row + 1).all()


def test_parquet_of_conversations():
    """Lists of records within a column."""
    turns = [{"role": "user", "content": "x" * 8}, {"role": "assistant", "content": "y" * 4}]
    when = pa.array([1_700_000_060, 1_700_000_000], pa.timestamp("s"))
    requests, report = read(as_parquet({"conversation": [turns, turns], "timestamp": when}))
    assert (requests.prompt.tolist(), requests.output.tolist()) == ([2, 2], [1, 1])
    assert requests.seconds.tolist() == [0, 60]
    assert report.format.startswith("conversations")


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


UNITS = {
    "ending ns": ("arrival_ns", [0, 3 * 10**9], "ns", 3),
    "ending us": ("arrival_time_us", [0, 3 * 10**6], "us", 3),
    "ending ms in capitals": ("startMs", [0, 3000], "ms", 3),
    "in brackets": ("Time (ms)", [0, 3000], "ms", 3),
    "ending seconds": ("time_seconds", [0, 3000], "s", 3000),
    "since 1970 in s": ("ts", [1_700_000_000, 1_700_000_003], "s", 3),
    "since 1970 in ms": ("ts", [1_700_000_000_000, 1_700_000_003_000], "ms", 3),
    "since 1970 in us": ("ts", [1_700_000_000_000_000, 1_700_000_003_000_000], "us", 3),
    "since 1970 in ns": ("ts", [1_700_000_000_000_000_001, 1_700_000_000_000_000_002], "ns", 1e-9),
    "near whole numbers": ("ts", [0, 3], "s", 3),
    "far whole numbers": ("ts", [0, 3000], "ms", 3),
    "far decimals": ("ts", [0.5, 3000.5], "s", 3000),
}


@pytest.mark.parametrize("case", UNITS.values(), ids=UNITS)
def test_units(case):
    """By the name's ending, else by size; a guess says so, and the user can set another."""
    name, times, unit, span = case
    text = f"{name},prompt_tokens,completion_tokens\n{times[0]},1,1\n{times[1]},1,1\n"
    requests, report = read(text)
    assert report.time_unit == unit
    assert requests.seconds[1] == pytest.approx(span, rel=1e-12)
    assert bool(report.notes) == (unit_in(name) is None)
    requests, report = read(text, time_unit="ms")
    assert report.time_unit == "ms"
    assert report.notes == ()


def test_unit_of_the_canonical_csv():
    """Seconds, unless the user says otherwise."""
    requests, report = read("arrival,prompt,output\n500,1,1\n", time_unit="ms")
    assert (requests.seconds[0], report.time_unit) == (0.5, "ms")


def test_unit_of_dates_cannot_be_set():
    """They have one; and a unit that there is not is named."""
    with pytest.raises(InputError, match="holds dates, which have no time unit to set"):
        read(AZURE, time_unit="ms")
    with pytest.raises(InputError, match="must be one of s, ms, us, ns, got days"):
        read(TABLE, time_unit="days")


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


@pytest.mark.parametrize(
    "rows",
    [
        ["2024-05-12 10:00:00", "2024-05-12 10:00:01.5"],
        ["2024-05-12T10:00:00Z", "2024-05-12T10:00:01.500Z"],
        ["2024-05-12 10:00:00,000", "2024-05-12 10:00:01,500"],
        ["2024-05-12 10:00:00 UTC", "2024-05-12 10:00:01.5 UTC"],
        ["2024-05-12 15:30:00+0530", "2024-05-12 15:30:01.5+05:30"],
        ["2024-05-12 10:00:00+00", "2024-05-12 02:00:01.5-08"],
        ["2024-05-12 10:00:00 +0000 UTC", "2024-05-12 10:00:01.5 +0000 UTC"],
        ["2024-05-12 10:00", "2024-05-12 10:00:01.5"],
    ],
)
def test_dates_as_they_are_written(rows):
    """By standards, databases, loggers and spreadsheets: the same two moments."""
    text = "timestamp;prompt_tokens;output_tokens\n" + "".join(f"{at};1;1\n" for at in rows)
    requests, report = read_requests(io.BytesIO(text.encode()))
    assert requests.seconds.tolist() == [0, 1.5]
    assert report.time_unit == "date and time"
    assert requests.began == 1_715_508_000


def test_days_and_odd_dates():
    """Days are moments, too; dates that may be read in two ways are refused as dates."""
    head = "timestamp,prompt_tokens,output_tokens\n"
    requests, _ = read_requests(io.BytesIO(f"{head}2024-05-12,1,1\n2024-05-13,1,1\n".encode()))
    assert requests.seconds.tolist() == [0, 86_400]
    for odd in ("05/12/2024 10:00", "12/May/2024:10:00:00 +0000", "10:00:00"):
        with pytest.raises(InputError, match="timestamp is not a date and time such as"):
            read_requests(io.BytesIO(f"{head}{odd},1,1\n".encode()))


def test_decimal_commas():
    """Where semicolons part the fields, a comma is a point, quoted or not."""
    text = 'prompt_tokens;output_tokens;start_s\n10;5;0,5\n"10";"5";"2,25"\n1,5;5;3,0\n'
    requests, report = read_requests(io.BytesIO(text.encode()))
    assert requests.seconds.tolist() == [0, 1.75]
    assert sum(report.set_aside.values()) == 1


def test_rows_within_a_document():
    """As APIs export them: one list within an object; two lists are not chosen between."""
    rows = [{"startTime": "2024-05-12 10:00:00", "promptTokens": 7, "completionTokens": 3}, {}]
    requests, report = read_requests(io.BytesIO(json.dumps({"data": rows, "page": 1}).encode()))
    assert lengths(requests) == [(7, 3)]
    assert (report.rows_in, report.rows_kept) == (2, 1)
    assert glance(io.BytesIO(json.dumps({"data": rows}).encode())).roles["prompt"] == "promptTokens"
    odd = json.dumps({"data": [{"size": 7, "made": 3}]}).encode()
    requests, _ = read_requests(io.BytesIO(odd), columns={"prompt": "size", "output": "made"})
    assert lengths(requests) == [(7, 3)]
    with pytest.raises(InputError, match="of no known format"):
        read_requests(io.BytesIO(json.dumps({"data": rows, "more": rows}).encode()))


def test_numbers_too_long_for_anything():
    """Are said to be so, in every shape of JSON."""
    number = b'{"prompt_tokens": 1' + b"0" * 5000 + b', "output_tokens": 2}'
    for raw in (number, b'{"data":\n[' + number + b"]}"):
        with pytest.raises(InputError, match="a number is too long"):
            read_requests(io.BytesIO(raw))


def test_pipes_are_read(tmp_path):
    """As `import <(zcat log.gz)` gives one: it cannot be read twice, and is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = b"prompt_tokens,output_tokens\n" + b"7,3\n" * 100_000
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_bytes, gzip.compress(text))
        requests, _ = read_requests(pipe)
    assert len(requests) == 100_000


def test_name_of_a_file_stays_in_one_line():
    """Whatever it is."""
    file = io.BytesIO(b"")
    file.name = "a\nb\tc.csv"
    with pytest.raises(InputError, match=r"^a b c\.csv: the file is empty$"):
        read_requests(file)


def test_arrivals_that_no_clock_can_tell_name_the_file(tmp_path):
    """In the making of the workload, too."""
    path = tmp_path / "far.csv"
    path.write_text("arrival,prompt,output\n1e11,1,1\n")
    with pytest.raises(InputError, match=r"^far\.csv: row 1, arrival: must be a number from 0"):
        read_trace(path, round_seconds=1e-6)


@pytest.mark.parametrize(
    ("header", "rows", "began"),
    [
        ("TIMESTAMP", ["2023-11-16 18:15:46.68", "2023-11-16 18:15:47"], 1_700_158_546.68),
        ("start_ns", ["1700158546680000000", "1700158547000000000"], 1_700_158_546.68),
        ("start", ["1700158547", "1700158546.68"], 1_700_158_546.68),
        ("start", ["100.5", "101"], None),
        ("arrival_ns", ["100000000000", "200000000000"], None),
    ],
)
def test_when_it_began(header, rows, began):
    """Seconds since 1970 of the first arrival, where the file's clock counts from then."""
    text = f"{header},prompt_tokens,output_tokens\n" + "".join(f"{at},1,1\n" for at in rows)
    requests, _ = read_requests(io.BytesIO(text.encode()))
    assert requests.began == (None if began is None else pytest.approx(began, abs=1e-6))


def test_all_zero_times_are_not_silent():
    """Times that are all the same, or not there, are called a backlog; one request is none."""
    same = "ts,prompt_tokens,completion_tokens\n7,1,1\n7,1,1\n"
    assert any("all arrival times are the same" in note for note in read(same)[1].notes)
    none = "prompt_tokens,completion_tokens\n1,1\n1,1\n"
    assert any("no arrival times: a backlog" in note for note in read(none)[1].notes)


def test_a_rate_beyond_belief_is_questioned():
    """A hundred requests within a tenth of a second, because milliseconds were seconds."""
    rows = "".join(f'{{"timestamp": {i}, "input_length": 1, "output_length": 1, "hash_ids": []}}\n'
                   for i in [*range(2000, 2100), 2099])  # fmt: skip
    assert any(
        "1,010 requests a second: is the unit right?" in note for note in read(rows)[1].notes
    )
    requests, report = read(rows, time_unit="s")
    assert (requests.seconds[-1], report.notes) == (99, ())


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
