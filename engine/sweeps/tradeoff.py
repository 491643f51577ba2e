"""What one parameter of a policy buys and costs: the same run at several values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.choice import Choice
from engine.errors import Livelock
from engine.experiment import Experiment
from engine.measure.times import tpot, ttft
from engine.policy_parameters import Param
from engine.progress import Progress, silent
from engine.simulate.run import Run

VALUES = 7
PERCENT = 99
USUAL = {  # where a parameter's whole range is far wider than what people set
    "chunk_size": (128, 256, 512, 1024, 2048, 4096),
    "max_num_batched_tokens": (512, 1024, 2048, 4096, 8192, 16384),
    "max_num_seqs": (8, 16, 32, 64, 128, 256, 512),
    "watermark": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
    "margin": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
    "skip": (0, 1, 2, 5, 10, 20, 50),
    "block_size": (1, 8, 16, 32, 64, 128),
    "max_wait": (0, 1, 3, 10, 30, 100),
}


@dataclass(frozen=True)
class TradeoffPoint:
    """A run at one value of the parameter; times in clock units.

    Attributes
    ----------
    value : of the parameter
    mean_latency, ttft, tpot : the mean, and 99th percentiles; TPOT is NaN where o = 1 for all
    preemptions : how often KV cache was given up
    """

    value: float
    mean_latency: float
    ttft: float
    tpot: float
    preemptions: int


def values_of(param: Param, present: float) -> list[float]:
    """The values to try, ascending, the present one among them."""
    usual = USUAL.get(param.name) or _spread(param)
    kind = int if param.is_whole else float
    fitting = {kind(value) for value in usual if param.low <= value <= param.high}
    return sorted(fitting | {kind(present)})


def _spread(param: Param) -> Iterable[float]:
    """All whole numbers of a short range, else VALUES of it at equal distances."""
    if param.is_whole and param.high - param.low < VALUES:
        return range(int(param.low), int(param.high) + 1)
    return np.linspace(param.low, param.high, VALUES).tolist()


def try_values(
    experiment: Experiment, choice: Choice, param: Param, progress: Progress = silent
) -> list[TradeoffPoint]:
    """The outcome at each value of a parameter; where the policy never ends there is none."""
    outcomes = []
    values = values_of(param, choice.values[param.name])
    for done, value in enumerate(values):
        progress(done / len(values), f"{param.name} = {value:g}")
        try:
            run = experiment.run(choice.changed(**{param.name: value}))
        except Livelock:
            continue
        outcomes.append(_outcome(value, run))
    return outcomes


def _outcome(value: float, run: Run) -> TradeoffPoint:
    per_token = tpot(run)
    known = per_token[~np.isnan(per_token)]
    return TradeoffPoint(
        value,
        float(run.latency.mean()),
        float(np.percentile(ttft(run), PERCENT)),
        float(np.percentile(known, PERCENT)) if len(known) else float("nan"),
        int(run.preemptions.sum()),
    )


def in_words(param: Param, outcomes: list[TradeoffPoint], unit: str) -> str:
    """Which value is best for the first token, and which for the others."""
    first = min(outcomes, key=lambda outcome: outcome.ttft)
    later = [outcome for outcome in outcomes if not np.isnan(outcome.tpot)]
    sentence = (
        f"The lowest P{PERCENT} time to first token ({wording.amount(first.ttft, unit)}) is at "
        f"{param.name} = {first.value:g}"
    )
    if not later:
        return f"{sentence}."
    best = min(later, key=lambda outcome: outcome.tpot)
    return (
        f"{sentence}, the lowest P{PERCENT} time per output token "
        f"({wording.amount(best.tpot, unit)}) at {param.name} = {best.value:g}."
    )
