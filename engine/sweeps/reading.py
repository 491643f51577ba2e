"""What policies did in an experiment, as a few numbers that can be put side by side.

A short run of a server that is a little overloaded looks as if it kept up. So where a run's
verdict is not certain (engine/measure/overload.py), the policy runs once more on STEADY requests a
server, and that verdict counts; where it is not certain either, the reading says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from engine.capacity.draws import STEADY, Draws
from engine.capacity.objective import Objective
from engine.choice import Choice
from engine.errors import InputError, Livelock
from engine.experiment import Experiment
from engine.measure.overload import Verdict, verdict
from engine.measure.times import tpot, ttft
from engine.progress import Progress, silent
from engine.scale_out import HERE, Sweep, run_all
from engine.simulate.run import Run
from engine.sweeps.parameters import Setting, varied

OVERLOADED = 1.5  # how far an overloaded run counts as beyond its limits, at least
CARRIED = 0.5  # and how far one counts that keeps up and has no limits to keep


@dataclass(frozen=True)
class CellReading:
    """What one policy did; times in clock units.

    Attributes
    ----------
    ttft, tpot : the percentile of the objective; TPOT is NaN where o = 1 for all
    mean_latency : end to end
    attainment : share of requests within all limits of the objective
    preemptions : how often KV cache was given up
    verdict : the kind of engine/measure/overload.py
    excess : how far the objective is missed: at most 1 where it is met
    certain : whether a still longer run would have the same verdict
    """

    ttft: float
    tpot: float
    mean_latency: float
    attainment: float
    preemptions: int
    verdict: str
    excess: float
    certain: bool

    @property
    def is_met(self) -> bool:
        return self.excess <= 1


VERDICTS = (
    "backlog", "closed loop", "too short", "stable", "saturated", "sheds load", "overloaded"
)  # fmt: skip
METRICS: dict[str, tuple[str, Callable[[CellReading], float]]] = {
    "ttft": ("time to first token", lambda reading: reading.ttft),
    "tpot": ("time per output token", lambda reading: reading.tpot),
    "latency": ("mean latency", lambda reading: reading.mean_latency),
    "attainment": ("requests within the limits", lambda reading: reading.attainment),
    "preemptions": ("preemptions", lambda reading: reading.preemptions),
    "verdict": ("verdict", lambda reading: VERDICTS.index(reading.verdict)),
}
PERCENTILES = ("ttft", "tpot")


def read_each(
    experiment: Experiment,
    settings: Sequence[Setting],
    objective: Objective,
    on: str = HERE,
    progress: Progress = silent,
) -> Iterator[tuple[int, list[CellReading | None]]]:
    """`read_all` of the experiment with each of these settings, with the index of the setting.

    Parameters
    ----------
    on : where, as for `run_all`
    """
    return run_all(Sweep(_read_varied, (experiment, objective), settings), on, progress)


def _read_varied(
    asked: tuple[Experiment, Objective], setting: Setting, progress: Progress
) -> list[CellReading | None]:
    experiment, objective = asked
    return read_all(varied(experiment, setting), objective, progress)


def read_all(
    experiment: Experiment, objective: Objective, progress: Progress = silent
) -> list[CellReading | None]:
    """One reading a policy of the experiment; None where it cannot run."""
    readings: list[CellReading | None] = []
    longer = _Longer(experiment)
    for number, choice in enumerate(experiment.choices):
        progress(number / len(experiment.choices))
        try:
            run = experiment.run(choice)
        except InputError:  # nothing fits in M, a livelock, a router that knows no future
            readings.append(None)
        else:
            readings.append(reading(run, objective, longer.verdict(choice, run)))
    return readings


def reading(run: Run, objective: Objective, load: Verdict) -> CellReading:
    """The numbers of one run, with the verdict that counts."""
    return CellReading(
        ttft=objective.percentile(ttft(run)),
        tpot=objective.percentile(tpot(run)),
        mean_latency=float(run.latency.mean()),
        attainment=float(objective.within(run).sum() / run.offered),
        preemptions=int(run.preemptions.sum()),
        verdict=load.kind,
        excess=_excess(objective, run, load),
        certain=load.is_certain,
    )


def _excess(objective: Objective, run: Run, load: Verdict) -> float:
    reached = objective.excess(run) if objective.has_limits else CARRIED
    return reached if load.keeps_up else max(reached, OVERLOADED)


class _Longer:
    """The same experiment with as many requests as show an overload, drawn when needed."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment

    def verdict(self, choice: Choice, run: Run) -> Verdict:
        """Of the run where it is certain, else of a long one."""
        load = verdict(run)
        if load.is_certain or self._drawn is None:
            return load
        try:
            return verdict(self._drawn.run(choice))
        except Livelock:
            return replace(load, kind="overloaded")

    @cached_property
    def _drawn(self) -> Experiment | None:
        """None where there are as many already."""
        least = STEADY * self._experiment.deployment.servers
        if self._experiment.requests >= least:
            return None
        draws = Draws(self._experiment.source, 1)
        return replace(self._experiment, source=draws.at(draws.rate, draws.seeds[0], least))
