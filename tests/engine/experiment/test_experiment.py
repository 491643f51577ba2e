"""An experiment is one value, and so a key: equal where it asks the same, and only there."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from engine import Choice, Deployment, Experiment, Scenario, Topology, Workload, seconds_clock
from engine.demand.predictions import LognormalError

CHOICES = (Choice("svf"), Choice("vllm"))
ASKED = Experiment(Scenario(n=30), Deployment(16_492), CHOICES)
OTHERS = {
    "more requests": replace(ASKED, source=Scenario(n=31)),
    "another draw": replace(ASKED, source=Scenario(n=30, seed=1)),
    "closed": replace(ASKED, source=Scenario(n=30, concurrency=4)),
    "predicted": replace(ASKED, source=Scenario(n=30, predict=LognormalError(spread=0.5))),
    "less memory": replace(ASKED, deployment=Deployment(9000)),
    "seconds": replace(ASKED, deployment=Deployment(16_492, seconds_clock(0.05))),
    "other seconds": replace(ASKED, deployment=Deployment(16_492, seconds_clock(0.06))),
    "two servers": replace(ASKED, deployment=Deployment(16_492, topology=Topology(2))),
    "other policies": ASKED.choosing([Choice("svf")]),
    "other parameters": ASKED.choosing([Choice("svf").changed(skip=5), Choice("vllm")]),
    "another order": ASKED.choosing(reversed(CHOICES)),
}


def test_equal_experiments_are_one_key():
    """Whoever asks, and whenever: the memory as a float, the defaults written out."""
    again = Experiment(
        Scenario(n=30, seed=0), Deployment(16_492.0), (Choice.of("svf", {"skip": 0}), CHOICES[1])
    )
    assert again == ASKED
    assert {ASKED: "kept"}[again] == "kept"


def test_what_was_drawn_is_no_part_of_the_value():
    """The requests are drawn once a value, and the key is the same before and after."""
    fresh, before = replace(ASKED), hash(ASKED)
    assert len(ASKED.workload) == 30
    assert ASKED.workload is ASKED.workload
    assert (hash(ASKED), ASKED) == (before, fresh)


@pytest.mark.parametrize("name", OTHERS)
def test_another_question_is_another_key(name):
    """Each differs from the first, and from all others."""
    assert OTHERS[name] != ASKED
    assert len({ASKED, *OTHERS.values()}) == 1 + len(OTHERS)


def test_requests_are_compared_by_what_they_are():
    """Two uploads of one trace ask the same; one token more asks something else."""

    def asked(output):
        return Experiment(Workload([0.0, 1.0], [3, 3], [2, output]), Deployment(10))

    assert asked(4) == asked(4)
    assert hash(asked(4)) == hash(asked(4))
    assert asked(4) != asked(5)


@pytest.mark.parametrize("asked", [ASKED, *OTHERS.values()])
def test_an_experiment_travels(asked):
    """To a worker, where it is the same key and draws the same requests."""
    there = pickle.loads(pickle.dumps(asked))
    assert there == asked
    assert hash(there) == hash(asked)
    assert there.workload == asked.workload


def test_bounds_know_the_truth():
    """Whatever is predicted: the bound is that of the outputs."""
    predicted = OTHERS["predicted"]
    assert predicted.workload.is_predicted
    assert not predicted.truth.is_predicted
    assert np.array_equal(predicted.truth.output, ASKED.workload.output)


def test_a_costly_policy_is_told_to_be():
    """Seconds grow with the requests, and looking up predictions takes some of their own."""
    large = replace(ASKED, source=Scenario(n=3000))
    assert large.seconds(CHOICES[0]) > ASKED.seconds(CHOICES[0]) > 0
    assert OTHERS["predicted"].seconds(CHOICES[0]) > ASKED.seconds(CHOICES[0])
