"""A part of a trace: cut where it says, reproducible, every count true."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.traces import Report
from engine.traces.part import MOST_STEPS, TracePart, namer, steps
from engine.traces.requests import TraceRequests
from engine.traces.thinning import jitter, sample, window

BEGAN = 1_700_158_546.68  # 16 Nov 2023, 18:15:46.68 UTC


def requests_at(seconds, began=None):
    n = len(seconds)
    return TraceRequests(
        np.array(seconds, float), np.arange(1, n + 1), np.ones(n, int), np.arange(n), n,
        began=began,
    )  # fmt: skip


def binned(n=4000, width=3.0, every=10):
    """Bins of `width` seconds with `every` requests each."""
    return requests_at(np.repeat(np.arange(n // every) * width, every))


def test_all_of_it_is_the_trace_itself():
    """Nothing is copied, drawn or noted."""
    whole = binned()
    assert TracePart().of(whole) is whole
    assert TracePart().in_words(whole) == ""


def test_jitter_then_window_then_sample():
    """Bins are those of the whole trace, however few requests are kept."""
    whole = binned()
    part = TracePart((300.0, 600.0), 0.1, True, seed=3).of(whole)
    expected = sample(window(jitter(whole, 3), 300.0, 600.0), 0.1, 3)
    assert part.row.tolist() == expected.row.tolist()
    assert part.seconds.tolist() == expected.seconds.tolist()
    report = Report.of(part, "x")
    assert report.rows_in == report.rows_kept + sum(report.set_aside.values()) == 4000
    assert report.notes == (
        "arrivals are spread at random within bins of 3 s",
        "the sample has 0.1 of the trace's load, too",
    )
    assert set(report.set_aside) == {"outside the window 300:600 s", "not in the sample of 0.1"}


def test_sampling_is_blind_to_jitter():
    """With one seed for both, the kept ones are still spread over the whole of their bins."""
    part = TracePart(share=0.2, jittered=True).of(binned(n=20_000))
    within = part.seconds % 3.0
    assert within.mean() == pytest.approx(1.5, abs=0.1)
    assert within.max() > 2.9


@given(st.integers(0, 5))
def test_same_seed_same_part(seed):
    """Another seed, another sample."""
    part, other = TracePart(share=0.5, seed=seed), TracePart(share=0.5, seed=seed + 1)
    assert part.of(binned()).row.tolist() == part.of(binned()).row.tolist()
    assert part.of(binned()).row.tolist() != other.of(binned()).row.tolist()


@given(
    st.floats(0, 1e7).map(lambda span: [0.0, span]),
    st.none() | st.floats(1e8, 3e9),
)
def test_steps_enclose_the_trace(seconds, began):
    """From at or before the first to after the last, not too many, each with a name of its own."""
    whole = requests_at(seconds, began)
    at = steps(whole)
    assert at[0] <= 0 < at[1]
    assert seconds[1] < at[-1]
    assert at[-1] - seconds[1] <= 2 * (at[1] - at[0])
    assert len(at) <= MOST_STEPS + 3
    assert (np.diff(at) > 0).all()
    if seconds[1] <= 360 * 86_400:
        assert len(set(map(namer(whole), at))) == len(at)
    assert len(TracePart((at[0], at[-1])).of(whole)) == len(whole)


def test_steps_lie_at_round_times():
    """Of the day, where it is known."""
    whole = requests_at([0.0, 3501.7], BEGAN)
    assert list(map(namer(whole), steps(whole)))[:3] == ["18:15:30", "18:16:00", "18:16:30"]
    whole = requests_at([0.0, 3501.7])
    assert list(map(namer(whole), steps(whole)))[:3] == ["0:00:00", "0:00:30", "0:01:00"]


@pytest.mark.parametrize(
    ("whole", "moment", "name"),
    [
        (requests_at([0, 6 * 86_400], BEGAN), 5 * 86_400, "21 Nov 18:15"),
        (requests_at([0, 6 * 86_400]), 5 * 86_400, "120:00:00"),
        (requests_at([0, 60]), 0.5, "0.5\u202fs"),
        (replace(requests_at([0, 60]), unit_known=False), 1200.5, "1\u202f200.5"),
    ],
)
def test_names_of_moments(whole, moment, name):
    """By date, by the time since the first request, or as a number of no known unit."""
    assert namer(whole)(moment) == name


def test_in_words():
    """What a caption says of it."""
    whole = requests_at([0.0, 9000.0], BEGAN)
    part = TracePart((steps(whole)[1], steps(whole)[3]), 0.1, True)
    told = "18:16 to 18:18, 1 in 10 requests, arrivals spread within their bins"
    assert part.in_words(whole) == told


def test_a_window_knows_when_it_began():
    """So a window of a window has the right time of day."""
    inside = window(requests_at([0.0, 50.0, 70.0], BEGAN), 40.0, 100.0)
    assert inside.began == BEGAN + 50
    assert inside.seconds.tolist() == [0.0, 20.0]


def test_nothing_left_is_refused():
    """And so is a share that is none."""
    with pytest.raises(InputError, match="no request is left"):
        TracePart((100.0, 200.0)).of(requests_at([0.0, 1.0]))
    for share in (2.0, float("nan"), -1):
        with pytest.raises(InputError, match="the share of a sample"):
            TracePart(share=share).of(binned())
    assert replace(TracePart(), share=1).of(binned()) is not None
