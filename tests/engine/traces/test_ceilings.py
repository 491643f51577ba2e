"""A file that would take all memory or time is refused with a sentence."""

import gzip
import io
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import InputError
from engine.traces import ceilings, json_text, read_requests
from tests.engine.traces.reading import as_parquet, lines, read

ROOT = Path(__file__).resolve().parents[3]
HEADER = b"arrival,prompt,output\n"
MB = 1_000_000
ADDRESSES = 2_000_000_000  # bytes


def import_limited(path):
    """`import` of a file with 2 GB of addresses: exit code and what it said."""
    said = subprocess.run(
        [sys.executable, "-m", "engine", "import", str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
    )  # fmt: skip
    return said.returncode, said.stderr


def packed(path, head, block, times):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(times):
            file.write(block)


BOMBS = {
    "one line": (HEADER, b"1" * MB, 60, "a line is longer than 16 MB"),
    "no line": (b"", b"a" * MB, 60, "first line must name"),
    "one text in JSON": (b'[{"prompt": 1, "output": 2, "a": "', b"x" * MB, 60, "16 MB"),
    "one object": (b'{"results": [1\n', b"," + b"1,1" * (MB // 3), 60, "no known|JSON|16 MB"),
    "empty objects": (b'{"a": [', b"{}," * (MB // 3), 60, "8,000,000 parts"),
    "lists in lists": (b"", b'[{"a":' * (MB // 6), 60, "JSON"),
    "blanks": (b"[", b" " * MB, 60, "16 MB"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_gzip(bomb, tmp_path):
    """Some hundred kilobytes that stand for many megabytes."""
    head, block, times, needed = BOMBS[bomb]
    path = tmp_path / "bomb.gz"
    packed(path, head, block, times)
    assert path.stat().st_size < MB
    code, said = import_limited(path)
    assert code == 2
    assert any(part in said for part in needed.split("|"))
    assert said.count("\n") == 1


def test_parquet_texts(tmp_path):
    """Four thousand rows that share a text of a megabyte: 4 GB, written out."""
    path = tmp_path / "bomb.parquet"
    text = pa.array(["x" * MB]).dictionary_encode().take(pa.array([0] * 4_000))
    ones = [1] * 4_000
    pq.write_table(pa.table({"arrival": ones, "prompt": ones, "output": ones, "error": text}), path)
    assert path.stat().st_size < MB
    code, said = import_limited(path)
    assert (code, said.count("\n")) == (2, 1)
    assert "more than 2 GB, unpacked" in said


def test_parquet_lists():
    """More values in lists than a group of rows may have, of a column that is asked for."""
    lists = pa.array([np.zeros(5 * MB)] * 2)
    file = as_parquet({"arrival": [0, 1], "prompt": [1, 1], "output": lists})
    with pytest.raises(InputError, match=r"the column output.* holds too much"):
        read(file, columns={"output": "output"})


def test_long_texts_beside_the_numbers():
    """Take no memory in Parquet where nobody asks for them; the start of one that is asked for."""
    text = pa.array(["x" * MB] * 500)
    ones = [1] * 500
    file = as_parquet({"arrival": ones, "prompt": ones, "output": ones, "user": text})
    requests, _ = read(file, columns={"class": "user"})
    assert len(requests) == 500
    assert requests.classes == ("x" * 1000,)


@pytest.mark.parametrize(
    ("name", "value", "raw", "said"),
    [
        ("MOST_BYTES", 1000, HEADER + b"0,1,1\n" * 500, "holds more than 1e-06 GB"),
        ("MOST_ROWS", 400, HEADER + b"0,1,1\n" * 500, "more than 400 rows"),
        ("MOST_ROWS", 1, as_parquet({k: [1, 1] for k in ("arrival", "prompt", "output")}), "rows"),
        ("MOST_SECONDS", -1, HEADER + b"0,1,1\n" * 500, "takes longer than -1 s"),
        ("MOST_SECONDS", -1, as_parquet({k: [1] for k in ("prompt", "output")}), "takes longer"),
    ],
)  # fmt: skip
def test_ceilings(name, value, raw, said, monkeypatch):
    """Each is one sentence that begins with the file and says what to do."""
    monkeypatch.setattr(ceilings, name, value)
    for content in (raw, gzip.compress(raw)) if raw.startswith(HEADER) else (raw,):
        with pytest.raises(InputError, match=f"^the trace: .*{said}.*: give a part of it$"):
            read_requests(io.BytesIO(content))


def test_many_names():
    """Columns are looked at one by one, so there are not too many."""
    names = [f"c{k}" for k in range(6_000)]
    for raw in (",".join(names), lines(dict.fromkeys(names, 1))):
        with pytest.raises(InputError, match="more than 5,000 columns"):
            read(raw)


def test_long_lines_that_are_rows(monkeypatch):
    """A list in one line is no line: only its elements may not be long."""
    monkeypatch.setattr(ceilings, "LONGEST_LINE", 200)
    monkeypatch.setattr(json_text, "CHUNK", 50)
    monkeypatch.setattr(json_text, "LONGEST_LINE", 200)
    row = '{"prompt": 5, "output": 6}'
    requests, _ = read(f"[{', '.join([row] * 100)}]")
    assert len(requests) == 100
    with pytest.raises(InputError, match="after 1 elements, or the next is longer"):
        read(f'[{row}, {{"prompt": 5, "output": 6, "text": "{"x" * 500}"}}, {row}]')


def test_a_pipe_without_end():
    """What comes out of a pipe is kept up to the ceiling, and not beyond."""
    read_end, write_end = os.pipe()
    os.write(write_end, HEADER + b"0,1,1\n" * 100)
    os.close(write_end)
    assert len(read_requests(f"/dev/fd/{read_end}")[0]) == 100
    os.close(read_end)


def test_rows_are_numbered_beyond_32_bits():
    """No number of a row turns negative."""
    requests, _ = read(HEADER + b"0,1,1\n")
    assert requests.row.dtype == np.int64


@pytest.mark.parametrize("damaged", [b"pr\xffmpt", b"\x80rompt"])
def test_damaged_names(damaged):
    """A name in Parquet that is no UTF-8 is damage, not an error of ours."""
    file = io.BytesIO()
    pq.write_table(pa.table({"prompt": [1], "output": [1]}), file, store_schema=False)
    with pytest.raises(InputError, match="damaged"):
        read(file.getvalue().replace(b"prompt", damaged))


def test_damaged_footers():
    """Every byte of the footer may be wrong: a sentence, and no end of the process."""
    good = bytearray(as_parquet({"arrival": [0.0], "prompt": [1], "output": [1]}))
    start = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    for at in range(start, len(good)):
        for flipped in (0xFF, 0x80, 0x01):
            bad = bytearray(good)
            bad[at] ^= flipped
            with suppress(InputError):
                read(bytes(bad))


@pytest.mark.parametrize(
    ("lower", "raw", "said"),
    [
        ({"bytes": 1000}, HEADER + b"0,1,1\n" * 500, "holds more than 1e-06 GB"),
        ({"rows": 400}, HEADER + b"0,1,1\n" * 500, "more than 400 rows"),
        ({"rows": 1}, as_parquet({k: [1, 1] for k in ("arrival", "prompt", "output")}), "rows"),
        ({"seconds": -1.0}, HEADER + b"0,1,1\n" * 500, "takes longer than -1 s"),
        ({"values": 100}, b'{"a": [1' + b",1" * 100 + b"]}", "100 parts"),
    ],
)
def test_lowered_ceilings(lower, raw, said):
    """While a server for strangers reads, and no longer; what to do then is its to say."""
    usual = {"bytes": 10**9, "rows": 10**6, "seconds": 60.0, "values": 10**6}
    with ceilings.lowered(ceilings.Ceilings(**usual | lower, advice="read it at home")):
        for content in (raw, gzip.compress(raw)) if raw.startswith(HEADER) else (raw,):
            with pytest.raises(InputError, match=said):
                read_requests(io.BytesIO(content))
    assert ceilings.present().rows == ceilings.MOST_ROWS
    with ceilings.lowered(None):
        assert ceilings.present().rows == ceilings.MOST_ROWS
