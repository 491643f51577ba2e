"""Windows, samples and jitter change what they say and keep every count true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.traces import report
from engine.traces.requests import TraceRequests
from engine.traces.thinning import jitter, sample, window


def requests_at(seconds):
    n = len(seconds)
    return TraceRequests(
        np.array(seconds, float), np.arange(1, n + 1), np.ones(n, int), np.arange(n), n,
        ttft=np.arange(n) / 4,
    )  # fmt: skip


stamps = st.lists(st.integers(0, 20), min_size=1, max_size=30).map(sorted)


@given(stamps, st.integers(0, 20), st.integers(1, 20))
def test_window(seconds, first, width):
    """Exactly those from the first second up to but not at the last, from 0."""
    expected = [index for index, at in enumerate(seconds) if first <= at < first + width]
    if not expected:
        with pytest.raises(InputError, match="no request is left"):
            window(requests_at(seconds), first, first + width)
        return
    inside = window(requests_at(seconds), first, first + width)
    assert inside.row.tolist() == expected
    assert inside.seconds.tolist() == [seconds[i] - seconds[expected[0]] for i in expected]
    assert inside.ttft.tolist() == [i / 4 for i in expected]
    assert inside.rows_in == len(inside) + sum(inside.set_aside.values())


def test_window_the_wrong_way_round():
    """Is refused."""
    with pytest.raises(InputError, match="must end after it begins, got 5:5"):
        window(requests_at([0]), 5, 5)


def test_sample():
    """About the share, the same again with the same seed, every count true."""
    whole = requests_at(range(10_000))
    part = sample(whole, 0.3, seed=4)
    assert len(part) == pytest.approx(3000, abs=200)
    assert part.set_aside == {"not in the sample of 0.3": 10_000 - len(part)}
    assert (np.diff(part.row) > 0).all()
    assert sample(whole, 0.3, seed=4).row.tolist() == part.row.tolist()
    assert sample(whole, 0.3, seed=5).row.tolist() != part.row.tolist()
    assert sample(whole, 1).set_aside == {}
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="the share of a sample"):
            sample(whole, share)
    with pytest.raises(InputError, match="no request is left"):
        sample(whole, 0)


@given(stamps.filter(lambda seconds: len(set(seconds)) > 1))
def test_jitter_stays_within_bins(seconds):
    """Each request stays in its bin and in its place in the order."""
    before = requests_at(seconds)
    after = jitter(before)
    width = np.diff(np.unique(seconds)).min()
    assert after.row.tolist() == before.row.tolist()
    assert (after.seconds >= before.seconds).all()
    assert (after.seconds < before.seconds + width).all()
    assert (np.diff(after.seconds) >= 0).all()
    assert len(set(after.seconds.tolist())) == len(seconds)


def test_jitter_of_a_backlog():
    """Has no bin to stay within."""
    with pytest.raises(InputError, match="nothing to jitter"):
        jitter(requests_at([0, 0]))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 7))
def test_ties_are_counted_by_chunks(moments, chunk):
    """As one count of all would find them, wherever a chunk ends and in any order."""
    _, counts = np.unique(moments, return_counts=True)
    whole, report.CHUNK = report.CHUNK, chunk
    try:
        assert report.ties(np.array(moments, float)) == (len(counts), counts.max())
    finally:
        report.CHUNK = whole
