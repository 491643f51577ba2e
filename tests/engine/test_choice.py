"""A choice is one value: checked, complete, and equal where it runs the same."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import POLICIES, Choice, InputError


@given(st.sampled_from(sorted(POLICIES)))
def test_every_parameter_has_its_value(key):
    """Those that are not given are at their default, in the policy's order."""
    choice = Choice(key)
    assert choice.values == {param.name: param.default for param in POLICIES[key].params}
    assert list(choice.values) == [param.name for param in POLICIES[key].params]
    assert choice.label == key


def test_equal_where_it_runs_the_same():
    """However the parameters were written: left out, as text, as a number, in another order."""
    same = [
        Choice("svf"),
        Choice.of("svf", {"skip": "0"}),
        Choice("svf", (("margin", 0), ("skip", 0))),
        Choice("svf").changed(skip=5).changed(skip=0),
    ]
    assert len(set(same)) == 1
    assert Choice("svf") != Choice("fcfs")
    assert Choice("svf") != Choice.of("svf", {"skip": 1})


def test_a_change_keeps_the_rest():
    """Other values for some parameters."""
    choice = Choice.of("svf", {"skip": 5}).changed(margin=0.1)
    assert choice.values == {"skip": 5, "margin": 0.1}
    assert choice.label == "svf skip=5 margin=0.1"


@pytest.mark.parametrize(
    ("key", "params", "says"),
    [
        ("lifo", {}, "unknown policy lifo"),
        ("svf", {"jump": 1}, "no parameter jump"),
        ("svf", {"skip": -1}, "parameter svf.skip"),
        ("svf", {"skip": 1.5}, "parameter svf.skip"),
        ("svf", {"margin": "much"}, "much"),
    ],
)
def test_a_bad_choice_is_refused(key, params, says):
    """Before anything is run."""
    with pytest.raises(InputError, match=says):
        Choice.of(key, params)


def test_a_choice_travels():
    """To another process, where it is the same key."""
    choice = Choice.of("vllm", {"watermark": 0.05})
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert hash(pickle.loads(pickle.dumps(choice))) == hash(choice)
