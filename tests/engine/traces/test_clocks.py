"""Arrivals of any table: units, dates, moments since 1970, and times that cannot be."""

import io

import pytest

from engine import InputError
from engine.traces import read_requests
from engine.traces.clock import unit_in
from tests.engine.traces.reading import read

AZURE = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-12 00:00:00+00:00,5,1\r\n"
TABLE = "start_time,prompt_tokens,completion_tokens\n0,1,2\n3,4,5\n"


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
    for odd in ("05/12/2024 10:00", "12/5/2024:10:00:00 +0000", "10:00:00"):
        with pytest.raises(InputError, match="timestamp is not a date and time such as"):
            read_requests(io.BytesIO(f"{head}{odd},1,1\n".encode()))


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
    assert any("are the same: a backlog" in note for note in read(same)[1].notes)
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


ARRIVALS = {
    "an uncommon name": ("enqueued_utc", ["2025-01-01T00:00:00Z", "2025-01-01T00:00:08Z"]),
    "no word of time": ("x", ["2025-01-01 00:00:00", "2025-01-01 00:00:08"]),
    "since 1970": ("req_when", ["1735689600", "1735689608"]),
    "since 1970, in ms": ("received_by_proxy", ["1735689600000", "1735689608000"]),
    "under a wrapper": ("meta.received_at", ["2025-01-01 00:00:00", "2025-01-01 00:00:08"]),
    "a clock of its own": ("sent_time_s", ["0.5", "8.5"]),
}


@pytest.mark.parametrize("case", ARRIVALS.values(), ids=ARRIVALS)
def test_arrivals_are_found_by_what_they_hold(case):
    """Under any name; numbers of users and durations beside them are none."""
    name, (first, second) = case
    text = f"user_id,{name},isl,osl,wait\n1700000001,{first},7,3,0.5\n1700000002,{second},7,3,1\n"
    requests, report = read(text)
    assert requests.seconds.tolist() == [0, 8]
    assert not any("backlog" in note for note in report.notes)


def test_the_moment_of_coming_goes_first():
    """Before that of an answer, and a calendar before what may be a duration."""
    day = "2025-01-01T00:00:"
    text = "response_created_at,request_created_at,request_time,isl,osl\n"
    rows = [f"{day}05Z,{day}00Z,5.0,7,3", f"{day}09Z,{day}02Z,7.0,7,3"]
    assert read(text + "\n".join(rows))[0].seconds.tolist() == [0, 2]


def test_arrivals_by_the_end():
    """Where only the end is known, a latency leads back from it."""
    day = "2025-01-01T00:00:"
    rows = f"{day}09Z,7,3,1\n{day}10Z,7,3,6\n{day}20Z,7,3,\n"
    requests, report = read("completed_at,isl,osl,latency_s\n" + rows)
    assert requests.seconds.tolist() == [0, 4, 16]
    assert requests.row.tolist() == [1, 0, 2]
    assert any("completed_at is when requests ended" in note for note in report.notes)
    assert requests.began == pytest.approx(1_735_689_604)


def test_totals_a_day_are_no_requests():
    """By a count of requests, by a date a row, by rows that last exactly an hour."""
    for text in (
        "day,calls,input_tokens,output_tokens\n2025-01-01,5,100,50\n2025-01-02,7,100,50\n",
        "usage_date,input_tokens,output_tokens\n2025-01-01,100,50\n2025-01-02,100,50\n",
        "start,end,isl,osl\n1735689600,1735693200,100,50\n1735693200,1735696800,100,50\n",
    ):
        with pytest.raises(InputError, match="total"):
            read(text)
    text = "ts,num_requests,isl,osl\n0,1,100,50\n1,3,300,150\n2,1,100,50\n"
    requests, report = read(text)
    assert len(requests) == 2
    assert sum(report.set_aside.values()) == 1
    assert any("10,000,001 tokens" in note for note in read("isl,osl\n10000001,5\n")[1].notes)


@pytest.mark.parametrize(
    ("header", "row", "doubted"),
    [
        ("latency", "900", True),  # longer than the whole log
        ("latency", "0.9", False),
        ("latency_ms", "900000", False),  # its name says it
        ("time_to_first_token", "900", True),
    ],
)
def test_durations_beyond_belief_are_doubted(header, row, doubted):
    """Longer than the log; a unit can be set where the name tells none."""
    text = f"ts,isl,osl,{header}\n" + "".join(f"{i}.5,10,20,{row}\n" for i in range(3))
    _, report = read(text)
    assert any("is the unit right?" in note for note in report.notes) == doubted
    requests, report = read(text, duration_unit="ms")
    assert not any("is the unit right?" in note for note in report.notes)
    if doubted:
        measured = requests.ttft if requests.latency is None else requests.latency
        assert measured.tolist() == [0.9] * 3


def test_a_first_token_is_not_later_than_the_last():
    """A time to it in milliseconds, beside latencies in seconds."""
    rows = "".join(f"{100 * i},1000,900,200,5\n" for i in range(9))
    _, report = read("ts,isl,osl,ttft,latency\n" + rows)
    assert any("ttft is mostly longer than the whole latency" in note for note in report.notes)


def test_units_of_durations():
    """Must be known, and cannot be set where a layout has them."""
    with pytest.raises(InputError, match="duration unit must be one of"):
        read(TABLE, duration_unit="days")
    with pytest.raises(InputError, match="have a unit"):
        read(AZURE, duration_unit="ms")


def test_what_only_grows_may_be_a_clock():
    """With a unit or a word of clocks it is taken, and said; else it is only said."""
    for name in ("arr_s", "offset_ms", "seconds"):
        requests, report = read(f"{name},isl,osl,took_s\n0,7,3,1\n8000,7,3,2\n8000,7,3,4\n")
        assert requests.seconds[1] == (8 if name == "offset_ms" else 8000)
        assert any(f"{name} is taken for the arrivals" in note for note in report.notes)
    requests, report = read("x,row,isl,osl\n5,1,7,3\n9,2,7,3\n10,3,7,3\n")
    assert requests.seconds.tolist() == [0, 0, 0]
    assert any("x only grows: map arrival=x if it is a time" in note for note in report.notes)


def test_day_and_time_apart_are_not_a_backlog():
    """Two columns are not joined in silence, and days alone would put all at midnight."""
    with pytest.raises(InputError, match="date and hour hold day and time apart"):
        read("date,hour,isl,osl\n2025-01-01,10:00:00,7,3\n2025-01-01,10:00:08,7,3\n")
