"""Whatever is in a file, reading it gives a workload or one sentence, never anything else."""

import gzip
import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import InputError, Workload
from engine.traces import json_text, read_requests, read_trace
from engine.traces.head import look
from engine.traces.part import TracePart, steps
from engine.traces.read import glance, known_formats

CANONICAL = (
    b"arrival,prompt,output,class,priority\n"
    b"0,11,45,short,1\n0.25,2730,167,long,2\n1e-06,12.0,3,short,-1\n7.5,1,1,short,0\n"
)
AZURE = (
    b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    b"2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109\r\n"
    b"2023-11-16 18:15:51.2224670,879,55"
)
HEADERS = [CANONICAL.split(b"\n")[0], AZURE.split(b"\r")[0], b"arrival,prompt,output"]
EXAMPLES = [layout.EXAMPLE.encode() for layout in known_formats()]
HEADERS += [raw.split(b"\n")[0] for raw in EXAMPLES if look(io.BytesIO(raw)).kind == "table"]


def read_or_refuse(raw, strict):
    """The workload, or None after a message of one line that says where."""
    look_at_first(raw)
    try:
        workload, report = read_trace(io.BytesIO(raw), strict=strict)
    except InputError as refused:
        message = str(refused)
    else:
        assert isinstance(workload, Workload)
        assert len(workload) == report.rows_kept
        assert report.rows_in == report.rows_kept + sum(report.set_aside.values())
        return workload
    assert message.startswith("the trace: ")
    assert "\n" not in message
    return None


def look_at_first(raw):
    """A glance gives names, a part of the requests keeps every count; or they are refused."""
    try:
        seen = glance(io.BytesIO(raw))
        assert set(filter(None, seen.roles.values())) <= set(seen.names)
        whole, _ = read_requests(io.BytesIO(raw))
        at = steps(whole)
        part = TracePart((at[0], at[(len(at) + 1) // 2]), 0.5, jittered=True).of(whole)
    except InputError:
        return
    assert part.part
    assert part.rows_in == len(part) + sum(part.set_aside.values())


def damaged(raw, flips, cut):
    """Some bits turned, then cut off."""
    content = bytearray(raw)
    for place, bit in flips:
        content[place % len(content)] ^= 1 << bit
    return bytes(content[: cut % (len(raw) + 1)])


@settings(max_examples=500)
@given(st.binary(max_size=200), st.booleans())
@example(b"\xef\xbb\xbf", False)
@example(b",\n,", False)
def test_random_bytes(raw, strict):
    """Nothing at all is known about the file."""
    read_or_refuse(raw, strict)


fields = st.one_of(
    st.text(max_size=8),
    st.integers(-5, 10**12).map(str),
    st.floats().map(str),
    st.sampled_from(["", " ", '"', '"1"', "1e999", "-0", "\x00", "\x1c", "\u2028", "١"]),
    st.datetimes().map(str),
)


@settings(max_examples=500)
@given(
    st.sampled_from(HEADERS),
    st.lists(st.lists(fields, min_size=1, max_size=6).map(",".join), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.booleans(),
)
def test_random_rows_behind_a_good_header(header, rows, end, strict):
    """The header is right, the rows are anything."""
    read_or_refuse(header + end.encode() + end.join(rows).encode(errors="replace"), strict)


@settings(max_examples=500)
@given(
    st.sampled_from([CANONICAL, AZURE, *EXAMPLES]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 7)), max_size=4),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_flipped_bits_and_truncations(raw, flips, cut, strict):
    """A good file that was damaged on its way."""
    read_or_refuse(damaged(raw, flips, cut), strict)


@pytest.mark.parametrize("raw", [CANONICAL, AZURE])
def test_undamaged_files_are_read(raw):
    """The files that are damaged above are good."""
    assert len(read_or_refuse(raw, True)) in (3, 4)


@settings(max_examples=200)
@given(
    st.sampled_from([CANONICAL, *EXAMPLES]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 7)), max_size=3),
    st.integers(0, 10**6),
)
def test_damaged_gzip(raw, flips, cut):
    """The checksum finds what still unpacks: the same requests come out, or a message."""
    whole = gzip.compress(raw, mtime=0)
    assert read_or_refuse(whole, False) is not None
    again = read_or_refuse(damaged(whole, flips, cut or len(whole)), False)
    assert again is None or again.digest == read_or_refuse(raw, False).digest


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def replaced(value, path, new):
    """A copy of a JSON value with another one at the place that a path of numbers leads to."""
    if not path or not isinstance(value, (dict, list)) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[path[0] % len(keys)]
    copy = value.copy()
    copy[key] = replaced(value[key], path[1:], new)
    return copy


@settings(max_examples=500)
@given(
    st.sampled_from([raw for raw in EXAMPLES if raw[:1] in b"[{"]),
    st.lists(st.integers(0, 20), max_size=7),
    json_values,
    st.booleans(),
)
def test_json_with_another_value_somewhere(raw, path, new, strict):
    """Well-formed JSON whose values are not what they should be."""
    text = json.dumps(replaced(json.loads(raw), path, new))
    read_or_refuse(text.encode(), strict)
    if text.startswith("{"):  # and as a later line behind a good one
        read_or_refuse(raw.strip() + b"\n" + text.encode(), strict)


LINES = [raw for raw in EXAMPLES if raw[:1] == b"{" and raw.endswith(b"\n") and b"_lens" not in raw]
TABLES = [raw for raw in EXAMPLES if look(io.BytesIO(raw)).kind == "table"]


@settings(max_examples=200)
@given(st.data(), st.lists(st.sampled_from(["good", "bad", "blank"]), min_size=1, max_size=9))
def test_every_line_is_counted(data, lines):
    """Rows in the file are its lines that are not blank, whether they are kept or not."""
    raw = data.draw(st.sampled_from(LINES + TABLES))
    header, good = (b"", raw.strip()) if raw[:1] == b"{" else raw.strip().split(b"\n")
    body = {"good": good, "bad": good[: len(good) // 3], "blank": b"  "}
    text = (header + b"\n" if header else b"") + b"\n".join(body[line] for line in ["good", *lines])
    if header.startswith(b"arrival") and "bad" in lines:
        return  # the canonical CSV is strict
    requests, report = read_requests(io.BytesIO(text))
    assert report.rows_in == 1 + len(lines) - lines.count("blank")
    assert len(requests) == report.rows_kept == 1 + lines.count("good")
    assert sum(report.set_aside.values()) == lines.count("bad")


@given(
    st.lists(json_values, max_size=8),
    st.integers(1, 30),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", ":\t")]),
)
def test_list_elements_are_those_of_the_whole(values, chunk, separators):
    """Read piece by piece, however small the pieces are."""
    text = json.dumps(values, separators=separators)
    whole = json_text.CHUNK
    json_text.CHUNK = chunk
    try:
        again = list(json_text.elements(io.StringIO(text + " \n")))
        with pytest.raises(InputError):
            list(json_text.elements(io.StringIO(text[:-1])))
        with pytest.raises(InputError):
            list(json_text.elements(io.StringIO(text + "x")))
    finally:
        json_text.CHUNK = whole
    assert repr(again) == repr(json.loads(text))
