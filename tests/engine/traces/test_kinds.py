"""Kinds of files: packed, delimited, JSON in its shapes, Parquet."""

import csv
import gzip
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.traces import read_requests, read_trace
from engine.traces.head import look
from engine.traces.read import glance
from tests.engine.traces.reading import as_parquet, lengths, read

AZURE = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-12 00:00:00+00:00,5,1\r\n"


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


def test_line_breaks_within_quotes_part_no_rows():
    """Of any number, with quotes and delimiters among them; a stray quote keeps to its row."""
    text = 'note,prompt_tokens,completion_tokens\n"one\ntwo ""2"",\nthree",1,2\nx,3,4\n"\n",5,6\n'
    requests, report = read(text)
    assert (report.rows_in, requests.prompt.tolist()) == (3, [1, 3, 5])
    requests, report = read(text + '"open,7,8\ny,9,10\n')
    assert requests.prompt.tolist() == [1, 3, 5, 9]
    assert report.set_aside == {"wrong number of fields": 1}


def test_line_breaks_within_quotes_across_blocks(monkeypatch):
    """However little is read at a time; the line of a fault stays right."""
    monkeypatch.setattr("engine.traces.table.BLOCK", 40)
    row = 'a,"first\nsecond line\nthird",{},2\n'
    text = "t,note,prompt_tokens,output_tokens\n" + "".join(map(row.format, [1, 2, 3, 0, 5]))
    assert read(text)[0].prompt.tolist() == [1, 2, 3, 5]
    with pytest.raises(InputError, match=r"row 4 \(line 11 of the file\)"):
        read(text, strict=True)


def test_objects_over_several_lines():
    """One behind the other, as jq prints them; cut off they are damaged."""
    rows = [{"ts": i, "usage": {"prompt_tokens": 7 + i, "completion_tokens": 3}} for i in range(4)]
    text = "\n".join(json.dumps(row, indent=2) for row in rows)
    requests, report = read(text)
    assert requests.prompt.tolist() == [7, 8, 9, 10]
    assert report.rows_in == 4
    with pytest.raises(InputError, match="damaged or cut off after 3 objects"):
        read(text[:-9])


def test_names_in_quotes():
    """A delimiter within them parts no names."""
    requests, _ = read('"note, long",prompt_tokens,output_tokens\nx,7,3\n')
    assert requests.prompt.tolist() == [7]


def test_lists_deeper_within_a_document():
    """As search engines export hits; of two lists the one that tells."""
    hits = [{"_source": {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}}] * 2
    document = {"took": 1, "shards": [{"id": 1}], "hits": {"total": {"value": 2}, "hits": hits}}
    assert len(read(json.dumps(document))[0]) == 2
