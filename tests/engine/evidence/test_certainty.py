"""Every bound that can be on a page has words, and they say no more than is proved."""

from dataclasses import replace

import pytest

from engine import METHODS, Bound, Workload
from engine.evidence.certainty import (
    EVERY_RUN,
    KEPT_RUNS,
    by_kind,
    certainty,
    holds_for,
    is_by_prices,
    strongest,
)
from engine.machine.clock import ROUNDS, seconds_clock

CLOCKS = (ROUNDS, seconds_clock(0.5, 0.25))
SPOKEN = [
    (key, clock) for clock in CLOCKS for key, method in METHODS.items() if method.speaks(clock)
]


@pytest.mark.parametrize(("key", "clock"), SPOKEN)
def test_every_row_of_every_method_has_words(key, clock):
    """Its own, one or two sentences each, and the schedules that it speaks of."""
    for bound in METHODS[key].bounds(Workload([0] * 6, [2] * 6, [3] * 6), 10, clock=clock):
        words = certainty(bound)
        assert words == METHODS[key].in_words(clock)
        assert words.what.endswith(".")
        assert words.why.endswith(".")
        assert is_by_prices([bound]) == (bound.is_priced and clock.is_rounds)
        assert holds_for(bound).startswith(EVERY_RUN if bound.covers_preemption else KEPT_RUNS)


def test_rows_of_one_method_share_their_words():
    """Two rows, one text."""
    bounds = METHODS["lp"].bounds(Workload([0] * 6, [2] * 6, [3] * 6), 10)
    assert by_kind(bounds) == {METHODS["lp"].words: bounds}


def test_every_method_says_what_it_is():
    """None that is here leaves it at its title; where seconds change what it does, it says so."""
    assert all(method.words is not None for method in METHODS.values())
    spoken = {method.in_words(clock) for clock in CLOCKS for method in METHODS.values()}
    assert len(spoken) == len(METHODS) + 1  # prices are of memory, or of machine time


def test_a_method_without_words_has_its_title_and_source():
    """So that a new one is complete as soon as it is declared."""
    bare = replace(METHODS["fluid"], words=None, words_on_gpu=None)
    assert bare.in_words(ROUNDS).what == f"{bare.title}: {bare.source}."


def test_methods_are_in_order():
    """By their keys, whichever file imports another."""
    assert list(METHODS) == sorted(METHODS)


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
