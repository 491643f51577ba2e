"""What names and values of public logs mean: ends, gaps, units in values, totals, ids, days."""

import pytest

from engine import InputError
from tests.engine.traces.reading import lengths, lines, read

TOKENS = "prompt_tokens,completion_tokens"


def test_lines_of_a_web_server_are_written_at_the_end():
    """nginx: dates with a month's name; each request came its duration before its line."""
    rows = [
        {"time_local": f"0{day}/{month}/2024:10:00:00 +0100", "request_time": f"{took}",
         "tokens_in": 9, "tokens_out": 4}
        for day, month, took in [(1, "Nov", 3), (2, "Dec", 5)]
    ]  # fmt: skip
    requests, report = read(lines(*rows))
    assert requests.seconds.tolist() == [0, 31 * 86400 + 3 - 5]
    assert requests.latency.tolist() == [3, 5]
    assert any("when requests ended" in sentence for sentence in report.remarks())


def test_a_time_of_request_is_no_duration_elsewhere():
    """Only where a web server's other names stand beside it."""
    requests, _ = read(f"request_time,{TOKENS}\n10,9,4\n40,9,4\n")
    assert requests.seconds.tolist() == [0, 30]
    assert requests.latency is None


@pytest.mark.parametrize("name", ["inter_arrival_s", "iat_ms", "arrival_delta", "arrival_gap_s"])
def test_gaps_are_no_arrivals(name):
    """They are not read, which is said, however they grow."""
    requests, report = read(f"{name},{TOKENS}\n0,9,4\n2,9,4\n3,9,4\n")
    assert not requests.seconds.any()
    assert any(f"{name} holds the times between arrivals" in said for said in report.remarks())


@pytest.mark.parametrize("name", ["inter_token_latency_s", "mean_inter_token_ms", "chunk_gap_s"])
def test_gaps_between_tokens_are_none_between_arrivals(name):
    """As llmperf has them beside every request."""
    _, report = read(f"{name},{TOKENS}\n0.02,9,4\n0.03,9,4\n0.02,9,4\n")
    assert not any("times between arrivals" in said for said in report.remarks())


DURATIONS = {
    "350ms": 0.35, "1.2s": 1.2, "2m3s": 123, "1h0m0.5s": 3600.5, "100us": 1e-4,
    "100\u00b5s": 1e-4, "1.5 s": 1.5, "40": 40, "soon": None, "": None,
}  # fmt: skip


def test_durations_have_their_own_units():
    """As Go and Rust write them; what is none is no measurement, and no row is bad for it."""
    rows = "".join(f"{10 * k},9,4,{text}\n" for k, text in enumerate(DURATIONS))
    requests, report = read(f"timestamp,{TOKENS},duration\n{rows}")
    measured = [None if value != value else value for value in requests.latency.tolist()]
    assert measured == [value if value is None else pytest.approx(value)
                        for value in DURATIONS.values()]  # fmt: skip
    assert not any("duration" in sentence for sentence in report.remarks())


def test_cached_tokens_count_where_the_total_has_them():
    """A total tells whether the cached are beside the prompt or within it."""
    header = "timestamp,input,input_cached_tokens,output,cost_total,total\n"
    beside, _ = read(header + "1,100,64,20,0.01,184\n2,300,200,9,0.01,509\n")
    within, _ = read(header + "1,100,64,20,0.01,120\n2,300,200,9,0.01,309\n")
    assert lengths(beside) == [(164, 20), (500, 9)]
    assert lengths(within) == [(100, 20), (300, 9)]


@pytest.mark.parametrize("name", ["count", "frequency", "occurrences"])
def test_rows_that_stand_for_several_requests(name):
    """A table of how often lengths came is no log; rows that came once are."""
    with pytest.raises(InputError, match="the row is the total of several requests"):
        read(f"{TOKENS},{name}\n100,10,50\n200,20,7\n")
    requests, report = read(f"{TOKENS},{name}\n100,10,1\n200,20,7\n")
    assert len(requests) == 1
    assert sum(report.set_aside.values()) == 1


def test_an_id_in_several_rows_is_said():
    """Chunks of a stream, or retries: each row is a request here."""
    chunk = {"created": 1730000000, "usage": {"prompt_tokens": 9}}
    rows = [
        {**chunk, "id": f"a{k}", "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}
        for k in range(2)
        for tokens in (1, 2)
    ]
    _, report = read(lines(*rows))
    assert any("id a0 stands in 2 of the first rows" in said for said in report.remarks())
    for name in ("session_id", "user_id"):
        _, report = read(f"timestamp,{TOKENS},{name}\n1,9,4,a\n2,9,4,a\n3,9,4,b\n")
        assert not any("stands in" in sentence for sentence in report.remarks())


def test_days_of_a_spreadsheet_are_no_seconds():
    """They are refused with what to write, unless the user says what they are."""
    days = [45598 + seconds / 86400 for seconds in (36000, 36001, 36007)]
    table = f"time,{TOKENS}\n" + "".join(f"{day!r},9,4\n" for day in days)
    with pytest.raises(InputError, match="days since 1900"):
        read(table)
    assert len(read(table, time_unit="s")[0]) == 3
    assert len(read(f"time,{TOKENS}\n45598.25,9,4\n45599.371,9,4\n45600.9,9,4\n")[0]) == 3


def test_arrivals_that_are_all_the_same_are_named():
    _, report = read(f"sent_at,{TOKENS}\n5,9,4\n5,9,4\n")
    assert any("all of sent_at are the same" in sentence for sentence in report.remarks())


@pytest.mark.parametrize("name", ["cached", "cache_hit", "isCached"])
def test_answers_from_a_cache_are_no_requests_of_a_model(name):
    """A gateway's own; counts of cached tokens and hits of prefixes are no such thing."""
    requests, report = read(f"timestamp,{TOKENS},{name}\n1,9,4,false\n2,9,4,true\n3,9,4,False\n")
    assert requests.seconds.tolist() == [0, 2]
    assert report.set_aside == {f"{name} is not false: a cache answered, and no model": 1}
    for other in ("cached_tokens", "prefix_cache_hit"):
        assert len(read(f"timestamp,{TOKENS},{other}\n1,9,4,0\n2,9,4,1\n")[0]) == 2


def test_summaries_are_doubted():
    """A row a setting of a benchmark, or one a look at a counter; a request's own mean is not."""

    def said(header, *rows):
        return " ".join(read("\n".join([header, *rows]))[1].remarks())

    assert "mean_ttft_ms is a statistic" in said(f"{TOKENS},mean_ttft_ms", "9,4,100", "9,4,120")
    assert "statistic" not in said(f"{TOKENS},mean_itl_ms", "9,4,10", "9,4,12")
    even = [f"2024-11-02 10:00:{15 * k:02d},9,4" for k in range(4)]
    assert "a row comes every 15 s" in said(f"Time,{TOKENS}", *even)
    assert "a row comes" not in said(f"Time,{TOKENS}", *even[:3], "2024-11-02 10:00:46,9,4")
