"""Whatever is in a file, reading it gives a workload or one sentence, never anything else."""

import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import InputError, Workload
from engine.traces import read_trace

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


def read_or_refuse(raw, strict):
    """The workload, or None after a message of one line that says where."""
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
    st.sampled_from([CANONICAL, AZURE]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 7)), max_size=4),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_flipped_bits_and_truncations(raw, flips, cut, strict):
    """A good file that was damaged on its way."""
    damaged = bytearray(raw)
    for place, bit in flips:
        damaged[place % len(damaged)] ^= 1 << bit
    read_or_refuse(bytes(damaged[: cut % (len(raw) + 1)]), strict)


@pytest.mark.parametrize("raw", [CANONICAL, AZURE])
def test_undamaged_files_are_read(raw):
    """The files that are damaged above are good."""
    assert len(read_or_refuse(raw, True)) in (3, 4)
