"""What is kept between reruns: bounded by all that it holds, and not for ever."""

import time
from functools import cached_property

import numpy as np
import pytest

from pages.parts.holdings import Holdings, holdings_of
from pages.parts.store import Store

MB = 1_000_000


def megabytes(many):
    return np.zeros(many * MB, np.uint8)


class Lazy:
    """A result that grows when it is looked at."""

    @cached_property
    def curve(self):
        return megabytes(8)


@pytest.mark.parametrize(
    "result",
    [
        megabytes(5), {"a": megabytes(5)}, {megabytes(5).tobytes()}, megabytes(5)[:10],
        np.frombuffer(megabytes(5).tobytes(), np.uint8)[1:],
        [{"x": (megabytes(2), megabytes(3))}], [float(k) for k in range(200_000)],
    ],
    ids=["array", "dict", "bytes", "part of an array", "memory of another", "deep", "numbers"],
)  # fmt: skip
def test_all_is_counted(result):
    """Wherever the memory is."""
    held = Holdings()
    assert 5 * MB <= held.add(holdings_of(result)) < 8 * MB


def test_what_is_shared_counts_once():
    """A trace, and the part of it that is all of it."""
    store, column = Store(20 * MB), megabytes(9)
    store.put("whole", [column])
    store.put("part", {"of": column})
    assert "whole" in store
    assert 9 * MB <= store.bytes < 10 * MB


def test_oldest_goes():
    """Where all together are too much; a key counts like a result."""
    store = Store(20 * MB)
    for name in "abc":
        store.put(name, megabytes(9))
    assert [name for name in "abc" if name in store] == ["b", "c"]
    store.get("b", list)  # used
    store.put(("d", bytes(9 * MB)), None)
    assert [name for name in "abc" if name in store] == ["b"]
    store.put("e", megabytes(30))
    assert [name for name in "abe" if name in store] == ["b"]


def test_growth_is_seen():
    """What a result works out later counts, too."""
    store = Store(20 * MB)
    store.put("old", megabytes(9))
    store.put("lazy", Lazy())
    assert store.get("lazy", list).curve.nbytes == 8 * MB
    store.put("new", megabytes(9))
    assert "old" not in store
    assert "lazy" in store


def test_life_time():
    """What nobody uses goes by itself."""
    store = Store(life=0.05)
    store.put("a", megabytes(1))
    deadline = time.monotonic() + 30
    while "a" in store and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "a" not in store
