"""The canonical CSV: good files are read whole, bad ones refused at their first bad place."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError, Workload
from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.traces import read_trace, write_csv
from engine.traces import table as table_module

HEADER = "arrival,prompt,output\n"


def read(text, **how):
    raw = text if isinstance(text, bytes) else text.encode()
    return read_trace(io.BytesIO(raw), **how)


def rows(workload):
    names = [workload.classes[number] for number in workload.class_of]
    return list(
        zip(
            workload.arrival.tolist(),
            workload.prompt.tolist(),
            workload.output.tolist(),
            names,
            strict=True,
        )
    )


def test_reads_every_row_in_its_place():
    """Index is the row of the file, whatever the order of arrivals."""
    workload, report = read(HEADER + "3.5,10,20\n0,1,2\n0.25,7,9\n")
    assert rows(workload) == [(3.5, 10, 20, "all"), (0, 1, 2, "all"), (0.25, 7, 9, "all")]
    assert workload.row.tolist() == [0, 1, 2]
    assert (report.format, report.rows_in, report.rows_kept) == ("canonical CSV", 3, 3)
    assert (report.span_s, report.distinct_arrivals, report.rate) == (3.5, 3, 2 / 3.5)
    assert report.remarks() == []


GOOD = {
    "byte order mark": b"\xef\xbb\xbfarrival,prompt,output\n1,2,3\n",
    "CRLF": b"arrival,prompt,output\r\n1,2,3\r\n",
    "CR": b"arrival,prompt,output\r1,2,3\r",
    "no newline at the end": b"arrival,prompt,output\n1,2,3",
    "spaces around names and values": b" arrival , prompt,\toutput \n 1 , 2,\t3 \n",
    "quotes around names and values": b'"arrival","prompt","output"\n"1","2","3"\n',
    "capitals in names": b"Arrival,PROMPT,Output\n1,2,3\n",
    "another order of columns": b"output,arrival,prompt\n3,1,2\n",
    "whole numbers written as decimals": b"arrival,prompt,output\n1.0,2.0,3.00\n",
    "exponents": b"arrival,prompt,output\n1e0,2e0,.3e1\n",
    "signs": b"arrival,prompt,output\n+1,+2,+3\n",
    "blank lines": b"arrival,prompt,output\n\n1,2,3\n\n  \n",
    "a column without a name": b"arrival,prompt,output,\n1,2,3,\n",
}


@pytest.mark.parametrize("raw", GOOD.values(), ids=GOOD)
def test_accepts(raw):
    """Each spelling gives the same one request and no remark but on unknown columns."""
    workload, report = read(raw)
    assert rows(workload) == [(1, 2, 3, "all")]
    assert report.remarks() == []


WHOLE = "must be a whole number of tokens from 1 to 1,000,000,000"
SECONDS = "must be a number of seconds from 0 to 1,000,000,000,000"
BAD_ROWS = {
    "fractional tokens": ("1,2.5,3", "prompt", WHOLE, "got '2.5'"),
    "negative tokens": ("1,2,-3", "output", WHOLE, "got '-3'"),
    "zero tokens": ("1,0,3", "prompt", WHOLE, "got '0'"),
    "too many tokens": ("1,2,1000000001", "output", WHOLE, "got '1000000001'"),
    "infinite tokens": ("1,2,inf", "output", WHOLE, "got 'inf'"),
    "tokens that are no number": ("1,two,3", "prompt", WHOLE, "got 'two'"),
    "tokens with underscores": ("1,2_0,3", "prompt", WHOLE, "got '2_0'"),
    "tokens in hexadecimal": ("1,0x2,3", "prompt", WHOLE, "got '0x2'"),
    "NaN tokens": ("1,NaN,3", "prompt", WHOLE, "got 'NaN'"),
    "blank tokens": ("1,,3", "prompt", WHOLE, "it is blank"),
    "blank last field": ("1,2,", "output", WHOLE, "it is blank"),
    "blank arrival": (" ,2,3", "arrival", SECONDS, "it is blank"),
    "every field blank": (",,", "arrival", SECONDS, "it is blank"),
    "negative arrival": ("-0.5,2,3", "arrival", SECONDS, "got '-0.5'"),
    "infinite arrival": ("inf,2,3", "arrival", SECONDS, "got 'inf'"),
    "overflowing arrival": ("1e400,2,3", "arrival", SECONDS, "got '1e400'"),
    "NaN arrival": ("nan,2,3", "arrival", SECONDS, "got 'nan'"),
    "arrival that is a date": ("2023-11-16 18:15:46,2,3", "arrival", SECONDS, "got '2023-11"),
    "unclosed quote": ('1,"2,3', "prompt", WHOLE, "got '\"2'"),
    "not UTF-8": (b"1,\xff2,3", "prompt", WHOLE, "got '\ufffd2'"),
}


@pytest.mark.parametrize("case", BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_row_is_named(case):
    """Row from 1, file line (a blank line before it counts there only), field, need and value."""
    bad, field, need, got = case
    raw = bad if isinstance(bad, bytes) else bad.encode()
    with pytest.raises(InputError) as error:
        read(HEADER.encode() + b"0,1,1\n\n0,1,1\n" + raw + b"\n0,1,1\n")
    assert f"row 3 (line 5 of the file), {field}: {need}, {got}" in str(error.value)


@pytest.mark.parametrize(("bad", "has"), [("1,2", "2 fields"), ("1", "1 field"), ("1,2,3,4", "4")])
def test_wrong_number_of_fields_is_named(bad, has):
    """Too few and too many fields, in any row."""
    with pytest.raises(InputError) as error:
        read(HEADER + f"{bad}\n0,1,1\n")
    assert f"row 1 (line 2 of the file): has {has}" in str(error.value)
    assert "must have 3, one for each of arrival,prompt,output" in str(error.value)


def test_first_bad_row_and_its_first_bad_field_are_named():
    """Of several faults the earliest, also where an earlier row has the wrong number of fields."""
    with pytest.raises(InputError, match=r"row 2 .*, arrival: .*got 'x'"):
        read(HEADER + "0,1,1\nx,y,z\n0,1\n")
    with pytest.raises(InputError, match=r"row 1 .*: has 2 fields"):
        read(HEADER + "0,1\nx,y,z\n")
    with pytest.raises(InputError, match=r"row 2 .*, output: .*got '0'"):
        read("output,arrival,prompt\n1,0,1\n0,-1,1\n")


@given(st.integers(1, 80), st.integers(1, 400), st.lists(st.integers(0, 40), max_size=5))
def test_place_is_exact_across_blocks(bad_row, block, blank_after):
    """The same row and line, however small the blocks that are read at a time."""
    lines = []
    for row in range(1, 101):
        lines.append("0,1,bad" if row == bad_row else "0,1,1")
        lines += [""] * blank_after.count(row)
    line = 2 + lines.index("0,1,bad")
    whole = table_module.BLOCK
    table_module.BLOCK = block
    try:
        with pytest.raises(InputError) as error:
            read(HEADER + "\n".join(lines))
    finally:
        table_module.BLOCK = whole
    assert f"row {bad_row} (line {line} of the file), output" in str(error.value)


BAD_FILES = {
    "empty": (b"", "the file is empty"),
    "blank first line": (b"\n0,1,1\n", "the first line is blank"),
    "header only": (b"arrival,prompt,output", "the file has a header but no rows"),
    "header and blank lines": (b"arrival,prompt,output\n\n\n", "has a header but no rows"),
    "a column is missing": (
        b"arrival,prompt,tokens\n0,1,1\n",
        "arrival, prompt, output, separated by commas (missing: output), or be that of a known "
        "log, or its columns be mapped, as in prompt=NAME; found: arrival,prompt,tokens",
    ),
    "no header": (b"0,1,1\n0,1,1\n", "(missing: arrival, prompt, output)"),
    "a column twice": (b"arrival,prompt,output,prompt\n0,1,1,1\n", "the column prompt once"),
    "gzip cut off": (b"\x1f\x8b\x08\x00", "the gzip file is damaged or its end is missing"),
    "bzip2": (b"BZh91AY&SY", "a bzip2 file: unpack it first"),
    "XML": (b'<?xml version="1.0"?><Error/>', "an XML document, perhaps an error page"),
    "spreadsheet": (b"PK\x03\x04abc", "a zip archive or a spreadsheet"),
    "Parquet": (b"PAR1\x15\x04", "a Parquet file that is damaged or cut off"),
    "PDF": (b"%PDF-1.7\n", "a PDF"),
    "LFS pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "a Git LFS pointer, not the data: fetch it with git lfs pull",
    ),
    "web page": (b"\n<!DOCTYPE html><html>", "a web page (HTML): download the raw file"),
    "web page without doctype": (b"<HTML><body>", "a web page (HTML)"),
    "UTF-16": ("arrival,prompt,output\n".encode("utf-16"), "UTF-16 text: save it as UTF-8"),
    "binary": (b"\x00\x01\x02\x03", "a binary file"),
    "header not UTF-8": (b"arrival,prompt,output,\xe9\n0,1,1,1\n", "not UTF-8 text"),
}


@pytest.mark.parametrize("case", BAD_FILES.values(), ids=BAD_FILES)
def test_what_is_no_trace_is_called_what_it_is(case):
    """One sentence on what the file is and what to do."""
    raw, said = case
    with pytest.raises(InputError) as error:
        read(raw)
    assert str(error.value).startswith("the trace: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_and_directory(tmp_path):
    """The message starts with the name that was asked for."""
    with pytest.raises(InputError, match=r"^nothing\.csv: there is no such file"):
        read_trace(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match=f"^{tmp_path.name}: this is a directory"):
        read_trace(str(tmp_path))
    with pytest.raises(InputError, match="cannot be opened"):
        read_trace("a\0b.csv")
    with pytest.raises(InputError, match="cannot be opened"):
        read_trace("x" * 5000)


def test_upload_is_named_and_left_open():
    """An open file keeps its name in messages, and can be read again."""
    upload = io.BytesIO(b"arrival,prompt,output\n0,1,0\n")
    upload.name = "mine.csv"
    for _ in range(2):
        with pytest.raises(InputError, match=r"^mine\.csv: row 1 \(line 2"):
            read_trace(upload)
    assert not upload.closed


def test_round_seconds_divides_arrivals():
    """Seconds become rounds; the report stays in seconds."""
    workload, report = read(HEADER + "0,1,1\n3,1,1\n", round_seconds=0.5)
    assert workload.arrival.tolist() == [0, 6]
    assert report.span_s == 3
    for bad in (0, -1, float("nan"), float("inf"), "x"):
        with pytest.raises(InputError, match="round_seconds must be a number from"):
            read(HEADER + "0,1,1\n", round_seconds=bad)


def test_class_column():
    """Classes are numbered as they appear; a blank or unreadable name is an error."""
    workload, _ = read('arrival,prompt,output,class\n0,1,1,b\n0,1,1," a"\n0,1,1,Zürich\n0,1,1,b\n')
    assert workload.classes == ("b", "a", "Zürich")
    assert workload.class_of.tolist() == [0, 1, 2, 0]
    with pytest.raises(InputError, match=r"row 2 .*, class: must be a name .*, it is blank"):
        read("arrival,prompt,output,class\n0,1,1,a\n0,1,1,\n")
    with pytest.raises(InputError, match=r"row 1 .*, class: must be a name in UTF-8"):
        read(b"arrival,prompt,output,class\n0,1,1,Z\xfcrich\n")


def test_too_many_classes_are_refused():
    """An id in the class column is no class."""
    body = "".join(f"0,1,1,user{i}\n" for i in range(1001))
    with pytest.raises(InputError, match=r"row 1001 .*, class: .*at most 1,000 .*got 'user1000'"):
        read("arrival,prompt,output,class\n" + body)


def test_priorities_are_read_and_other_columns_noted():
    """Whole numbers in priority reach the workload; anything else is an error."""
    workload, report = read("arrival,prompt,output,priority,colour\n0,1,1,-3,red\n0,1,1,7,blue\n")
    assert workload.priority.tolist() == [-3, 7]
    assert report.remarks() == ["the column colour is not known and not used"]
    for bad in ("many", "1.5", "2000000000"):
        with pytest.raises(InputError, match=rf"row 1 .*, priority: must be a whole .*'{bad}'"):
            read(f"arrival,prompt,output,priority\n0,1,1,{bad}\n")


def test_predictions_are_read_and_written():
    """An interval a row, and a point where it is not the middle."""
    workload, report = read("arrival,prompt,output,predicted_lo,predicted_hi\n0,1,5,2,9\n")
    assert report.remarks() == []
    assert (workload.at_least[0], workload.expected[0], workload.at_most[0]) == (2, 5, 9)
    workload, _ = read("predicted,arrival,prompt,output\n7,0,1,5\n2,1,1,5\n")
    assert workload.expected.tolist() == workload.at_most.tolist() == [7, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("predicted_lo,predicted_hi\n0,1,1,1,many\n", r"row 1 .*, predicted_hi: .*got 'many'"),
        ("predicted_lo,predicted_hi\n0,1,1,0,2\n", r"row 1 .*, predicted_lo: must be a whole"),
        ("predicted\n0,1,1,\n", r"row 1 .*, predicted: must be .*, it is blank"),
        ("predicted_lo,predicted_hi\n0,1,1,1,2\n0,1,1,3,2\n", r"row 2, predicted_lo: .*at most"),
        ("predicted_lo\n0,1,1,1\n", "predicted_lo is given without predicted_hi"),
        ("predicted_hi\n0,1,1,1\n", "predicted_hi is given without predicted_lo"),
    ],
)
def test_bad_predictions_are_named(text, said):
    """Row and field, or the column that is missing."""
    with pytest.raises(InputError, match=said):
        read(f"arrival,prompt,output,{text}")


class_names = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters=',"\ufffd'), min_size=1
)


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e12),
            st.integers(1, 10**9),
            st.integers(1, 10**9),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=20,
    ),
    st.lists(class_names, min_size=3, max_size=3, unique=True),
)
def test_written_workloads_are_read_back_exactly(tmp_path_factory, requests, names):
    """Every arrival to the last bit, every length, every class name."""
    arrival, prompt, output, class_of = zip(*requests, strict=True)
    workload = Workload(list(arrival), list(prompt), list(output), list(class_of), tuple(names))
    path = tmp_path_factory.mktemp("written") / "trace.csv"
    write_csv(workload, path)
    again, report = read_trace(path)
    assert rows(again) == rows(workload)
    assert report.remarks() == []


def test_written_files_are_plain(tmp_path):
    """Whole arrivals without a point, a class column only where there are classes."""
    write_csv(Workload([0, 2.5], [1, 2], [3, 4]), tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_bytes() == b"arrival,prompt,output\n0,1,3\n2.5,2,4\n"
    write_csv(generate(Scenario(n=1)), tmp_path / "mix.csv")
    header, first = (tmp_path / "mix.csv").read_text().splitlines()
    assert header == "arrival,prompt,output,class"
    assert first.startswith("0,")
    assert first.endswith((",short", ",long"))


@pytest.mark.parametrize("name", ["a,b", 'a"b', "a\nb", " a", ""])
def test_class_name_that_cannot_be_written_is_refused(tmp_path, name):
    """Instead of a file that reads back as something else."""
    workload = Workload([0], [1], [1], [0], (name,))
    with pytest.raises(InputError, match="cannot stand in a CSV"):
        write_csv(workload, tmp_path / "x.csv")


def test_unwritable_path_is_one_sentence(tmp_path):
    """A folder that does not exist."""
    with pytest.raises(InputError, match=r"cannot write .*No such file"):
        write_csv(Workload([0], [1], [1]), tmp_path / "none" / "x.csv")


def test_generated_file_is_the_generated_workload(tmp_path):
    """The default mix survives the file, several blocks of it, with its arrivals."""
    workload = generate(Scenario(n=300_000, arrivals="gamma"))
    write_csv(workload, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").stat().st_size > 2 * table_module.BLOCK
    again, _ = read_trace(tmp_path / "g.csv")
    for name in ("arrival", "prompt", "output", "row"):
        assert (getattr(again, name) == getattr(workload, name)).all()
    names = np.array(workload.classes)[workload.class_of]
    assert (np.array(again.classes)[again.class_of] == names).all()
