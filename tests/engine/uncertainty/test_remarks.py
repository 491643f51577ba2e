"""What is said beside a study of wrong predictions."""

import numpy as np

from engine import Choice, Deployment, Experiment, Workload
from engine.demand.predictions import EXACT
from engine.uncertainty.axis import find_axis
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.remarks import remarks
from engine.uncertainty.study import Study, draw


def test_who_never_runs_is_counted_once():
    """Requests that were given are the same in every draw."""
    requests = Workload(np.arange(40.0), [5] * 39 + [9_000], [9] * 40)
    asked = Experiment(requests, Deployment(8_000), (Choice("vllm"), Choice("fcfs")))
    study = Study(asked, find_axis("error"), EXACT)
    pooled = Pooled([draw(study, seed) for seed in (0, 1)])
    (sentence,) = remarks(pooled, study)
    assert sentence.startswith("1 of 40 requests ")
    assert (pooled.set_aside, pooled.set_aside_share) == (2, 1 / 40)
