"""How long the study of wrong predictions takes: 20 levels, 5 policies, 10 seeds."""

import time

from engine import Choice, Deployment, Experiment, Scenario, find_policy
from engine.demand.predictions import LognormalError, with_predictions
from engine.uncertainty.axis import AXES
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.study import SEEDS, Study, draw
from engine.uncertainty.words import headline

CHOICES = tuple(Choice(key) for key in ("vllm", "fcfs", "mc-sf", "svf", "a-min"))


def test_sweep_of_errors(benchmark):
    """n = 1,000, all at once: the bar is 20 s, with progress."""
    study = Study(Experiment(Scenario(n=1000), Deployment(16_492), CHOICES), AXES["error"])
    told = []

    def sweep():
        return Pooled(
            [draw(study, seed, lambda *report: told.append(report)) for seed in range(10)]
        )

    sweep()  # compile and warm
    wall, processor = time.perf_counter(), time.process_time()
    pooled = benchmark.pedantic(sweep, rounds=1)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    benchmark.extra_info |= {"processor_s": processor, "reports": len(told)}
    print(f"\n{wall:.2f} s, {processor:.2f} processor seconds: {headline(pooled, study.axis)}")
    assert len(pooled.draws) == SEEDS
    assert wall < 20


def test_look_ahead_on_guesses(mix, paired):
    """n = 2,000, predictions off by a factor of 1.65: against the same policy with right ones."""
    workload = mix(2000)
    guessed = with_predictions(workload, LognormalError(1.0, 0.5))
    svf = find_policy("svf")
    paired(lambda: svf.run(guessed, 16_492), lambda: svf.run(workload, 16_492), rounds=15)
