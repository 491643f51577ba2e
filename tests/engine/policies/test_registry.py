"""The registry of policies and the parameters that they share."""

from collections import defaultdict

from engine import POLICIES
from engine.policy_parameters import MARGIN
from engine.registry import modules_in


def test_policies_are_sorted_by_key():
    """Whatever order their files are imported in."""
    assert list(POLICIES) == sorted(POLICIES)


def test_every_file_is_imported():
    """One policy a file, and no file is passed over."""
    assert len(modules_in("engine.policies")) == len(POLICIES)


def test_shared_parameters_have_one_range():
    """A parameter of one name is one parameter: policies may differ in its default alone."""
    ranges = defaultdict(set)
    for policy in POLICIES.values():
        for param in policy.params:
            if param.name != "seconds":  # of work, or of a solver's time
                ranges[param.name].add((param.low, param.high, param.is_whole))
    assert not {name: found for name, found in ranges.items() if len(found) > 1}


def test_another_default_is_the_same_parameter():
    """Its range and name stay, and its words unless others are given."""
    larger = MARGIN.starting_at(0.1)
    assert (larger.name, larger.low, larger.high) == (MARGIN.name, MARGIN.low, MARGIN.high)
    assert (larger.default, larger.help) == (0.1, MARGIN.help)
