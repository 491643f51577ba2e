"""Every bound that can be on a page has words, and they say no more than is proved."""

import pytest

from engine import METHODS, Bound, Workload
from engine.evidence.certainty import (
    EVERY_RUN,
    KEPT_RUNS,
    WORDS,
    by_kind,
    certainty,
    holds_for,
    strongest,
)
from engine.machine.clock import ROUNDS, seconds_clock

CLOCKS = (ROUNDS, seconds_clock(0.5, 0.25))
SPOKEN = [
    (key, clock) for clock in CLOCKS for key, method in METHODS.items() if method.speaks(clock)
]


@pytest.mark.parametrize(("key", "clock"), SPOKEN)
def test_every_row_of_every_method_has_words(key, clock):
    """Those that claim a proof by prices have prices, and the others have none."""
    for bound in METHODS[key].bounds(Workload([0] * 6, [2] * 6, [3] * 6), 10, clock=clock):
        words = certainty(bound)
        assert words.by_prices == bool(bound.prices)
        assert holds_for(bound).startswith(EVERY_RUN if bound.covers_preemption else KEPT_RUNS)


def test_rows_of_one_method_share_their_words():
    """Two rows, one text."""
    bounds = METHODS["lp"].bounds(Workload([0] * 6, [2] * 6, [3] * 6), 10)
    assert by_kind(bounds) == {WORDS["lp"]: bounds}


def test_no_words_for_what_does_not_exist():
    """A method that is gone takes its words with it."""
    assert {key.removesuffix(" in seconds") for key in WORDS} == set(METHODS)


EVERY, KEPT, LARGER = (
    Bound(name, value, True, covers, "test")
    for name, value, covers in (("every", 30, True), ("kept", 35, False), ("larger", 36, True))
)
GUESS = Bound("guess", 99, False, True, "test")


@pytest.mark.parametrize(
    ("bounds", "best"),
    [
        ([KEPT, EVERY, GUESS], [EVERY, KEPT]),
        ([EVERY, KEPT, LARGER], [LARGER]),
        ([KEPT], [KEPT]),
        ([GUESS], []),
        ([], []),
    ],
)
def test_strongest(bounds, best):
    """A bound for some runs is of use only above the best for all; a guess never is."""
    assert strongest(bounds) == best
