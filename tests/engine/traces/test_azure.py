"""Azure's traces: dates become seconds from the first arrival, bad rows are counted by reason."""

import io

import pytest

from engine import InputError
from engine.traces import read_trace

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"


def read(text, **how):
    return read_trace(io.BytesIO(text.encode()), **how)


def test_conversation_trace(shared):
    """19,366 requests over 3,501.7 s, the second 4.3145790 s after the first."""
    workload, report = read_trace(shared / "traces" / "azure2023_conv.csv", strict=True)
    assert len(workload) == report.rows_in == report.rows_kept == 19_366
    assert workload.arrival[:2].tolist() == [0, 4.314579]
    assert report.span_s == pytest.approx(3501.721937, abs=1e-7)
    assert report.distinct_arrivals == 19_366
    assert (workload.prompt[0], workload.output[0]) == (374, 44)
    assert (workload.prompt[-1], workload.output[-1]) == (197, 183)
    assert (workload.prompt.mean(), workload.output.mean()) == pytest.approx(
        (1154.70, 211.13), abs=0.01
    )
    assert report.remarks() == []


def test_code_trace(shared):
    """8,819 requests over 3,435.9 s."""
    workload, report = read_trace(shared / "traces" / "azure2023_code.csv", strict=True)
    assert len(workload) == report.rows_in == 8819
    assert report.span_s == pytest.approx(3435.948056, abs=1e-7)
    assert (workload.prompt.max(), workload.output.max()) == (7437, 1899)


def test_seven_digits_and_zones():
    """100 ns ticks are exact, a zone is honoured, with and without a fraction (2024's files)."""
    workload, report = read(
        HEADER
        + "2024-05-12 00:00:00+00:00,5,1\r\n"
        + "2024-05-12 00:00:00.0000001,6,1\r\n"
        + "2024-05-12T02:00:01.001163+02:00,7,1\r\n"
        + "2024-05-12 00:00:02Z,8,1"
    )
    assert workload.arrival.tolist() == [0, 1e-7, 1.001163, 2]
    assert (report.format, report.time_unit) == ("Azure LLM inference trace", "date and time")


def test_rows_are_sorted_by_arrival_and_keep_their_number():
    """Ties stay in the file's order."""
    workload, _ = read(
        HEADER + "2024-01-01 00:00:05,1,1\n2024-01-01 00:00:00,2,1\n2024-01-01 00:00:05,3,1\n"
    )
    assert workload.arrival.tolist() == [0, 5, 5]
    assert workload.prompt.tolist() == [2, 1, 3]
    assert workload.row.tolist() == [1, 0, 2]


def test_columns_are_found_by_name():
    """Another order and more columns, as in the multimodal trace."""
    workload, _ = read(
        "TIMESTAMP,NumImages,GeneratedTokens,ContextTokens\n2025-01-01 00:00:00,3,4,5\n"
    )
    assert (workload.prompt[0], workload.output[0]) == (5, 4)


BAD = [
    "2023-11-16 18:15:46.6805900,0,44",
    "2023-11-16 18:15:46.6805900,374,",
    "2023-11-16 18:15:46.6805900,374",
    "yesterday,374,44",
    "2023-13-16 18:15:46.6805900,374,44",
    "1,374,44",
    "2023-11-16 18:15:46.6805900,1.5,-3",
]


def test_bad_rows_are_set_aside_by_reason():
    """Each once, under its first fault; the others keep their row numbers."""
    good = "2023-11-16 18:15:50.9951690,396,109"
    workload, report = read(HEADER + "\r\n".join([*BAD[:2], good, "", *BAD[2:], good]))
    assert workload.row.tolist() == [2, 8]
    assert workload.arrival.tolist() == [0, 0]
    assert (report.rows_in, report.rows_kept) == (9, 2)
    assert report.set_aside == {
        "ContextTokens is not a whole number of tokens from 1 to 1,000,000,000": 2,
        "GeneratedTokens is not a whole number of tokens from 1 to 1,000,000,000": 1,
        "TIMESTAMP is not a date and time such as 2023-11-16 18:15:46.6805900": 3,
        "wrong number of fields": 1,
    }
    assert any(remark.startswith("3 of 9 rows set aside: TIMESTAMP") for remark in report.remarks())


@pytest.mark.parametrize("bad", BAD)
def test_strict_makes_a_bad_row_an_error(bad):
    """The same rows, named by row and line."""
    good = "2023-11-16 18:15:50.9951690,396,109\r\n"
    with pytest.raises(InputError, match=r"the trace: row 2 \(line 3 of the file\)"):
        read(HEADER + good + bad, strict=True)


def test_no_good_row_is_an_error():
    """With the reasons."""
    with pytest.raises(InputError, match="no row can be used: 2 x wrong number of fields"):
        read(HEADER + "1\n2\n")


def test_round_seconds_divides_arrivals():
    """From seconds to rounds."""
    workload, _ = read(
        HEADER + "2024-01-01 00:00:00,1,1\n2024-01-01 00:00:03,1,1\n", round_seconds=0.5
    )
    assert workload.arrival.tolist() == [0, 6]
