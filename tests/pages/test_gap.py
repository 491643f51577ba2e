"""The page Gap to bound takes whatever bound there is, also one it has never heard of."""

import pytest

from engine import METHODS, Bound
from engine.bound_method import BoundWords, bound_method
from tests.services.opened_page import open_page, press, said

GAP = "pages/3_Gap_to_Bound.py"


@pytest.fixture
def declare():
    """Declares a bound method as a file in engine/bounds does, for the time of a test.

    Each test has a key of its own: pages keep what a method found under it.
    """
    keys = []

    def declared(key, cost=1e-6, **more):
        keys.append(key)

        @bound_method(
            key=key,
            title="Nobody waits",
            source="yours",
            cost=lambda workload, memory: cost,
            **more,
        )
        def no_wait(workload, memory):
            return [Bound(key, float(workload.output.sum()), True, True, "sum of outputs")]

    yield declared
    for key in keys:
        METHODS.pop(key)


def test_a_new_bound_is_on_the_page(declare):
    """One that declares the least there is to declare: its column, its value and its title."""
    declare("bare")
    at = open_page(GAP, **{"from": "six-identical"})
    assert "bare" in at.dataframe[0].value.columns
    assert "**bare**: no less than 18 rounds" in said(at)
    assert "Nobody waits: yours." in said(at)


def test_a_new_bound_speaks_for_itself(declare):
    """Where it declares its words, the page has those."""
    declare("in-words", words=BoundWords("Lets all start at once.", "Outputs are added, no more."))
    told = said(open_page(GAP, **{"from": "six-identical"}))
    assert "Lets all start at once." in told
    assert "Outputs are added, no more." in told


def test_an_exact_bound_is_sought_when_asked_for(declare):
    """Whichever method it is: a button, and then the optimum under its heading."""
    declare("exact", cost=2.0, is_exact=True)
    at = open_page(GAP, **{"from": "six-identical"})
    assert "exact" not in at.dataframe[0].value.columns
    press(at, "Solve for the exact optimum")
    assert "No schedule without preemption is below 18 rounds" in said(at)
