"""Every sentence of random stories is so, by a program that knows only the run and the rule.

The same over many more runs is `python -m benchmarks.stories`.
"""

import pytest

from benchmarks.stories import check_policy
from engine import POLICIES, Workload, find_policy
from engine.measure.story import in_words
from tests.twins.story_checker import check_story, witness_of
from tests.twins.story_sentences import read

SOLVERS = ("best-found", "hindsight")  # which take a second a run


@pytest.mark.parametrize("key", POLICIES)
def test_no_sentence_is_false(key):
    """Both clocks, all loops and doors, any parameters, replicas and pools."""
    told = check_policy(key, 2 if key in SOLVERS else 12, seed=20261201)
    assert told["sentences"] > 0
    assert not told["false"]


def test_the_checker_sees_a_false_number(monkeypatch):
    """One token too many in a sentence, or another round in a claim, is found."""
    run = find_policy("fcfs").run(Workload([0, 0], [1, 1], [8, 9]), 11)
    witness = witness_of(run)
    check_story(run, witness, 1)

    def one_more(*of):
        return [said.replace("7\u202ftok", "8\u202ftok") for said in in_words(*of)]

    monkeypatch.setattr("tests.twins.story_checker.in_words", one_more)
    with pytest.raises(AssertionError):
        check_story(run, witness, 1)


def test_a_sentence_that_nobody_knows_is_an_error():
    with pytest.raises(AssertionError, match="no pattern"):
        read("It would have fitted then; another rule of the policy held it back.")
