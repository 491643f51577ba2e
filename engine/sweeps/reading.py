"""What policies did in an experiment, as a few numbers that can be put side by side.

A short run of a server that is a little overloaded looks as if it kept up, so the verdict is that
of engine/capacity/carried.py: where a run does not tell, what the policy keeps up with for good
does, and where that is too near, the reading says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.capacity.carried import verdict_of_law
from engine.capacity.objective import Objective
from engine.errors import InputError
from engine.experiment import Experiment
from engine.measure.overload import Verdict
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
    ttft, tpot : the percentile of the objective, infinite where it is one who was not served; TPOT
        is NaN where o = 1 for all
    mean_latency : end to end
    attainment : share of requests within all limits of the objective
    preemptions : how often KV cache was given up
    verdict : the kind of engine/measure/overload.py
    excess : how far the objective is missed: at most 1 where it is met
    certain : whether a still longer run would have the same verdict
    set_aside : how many requests can never run, as they need more than M or are too long
    of : how many requests there were, these included
    unserved : share of those that fit which gave up or were turned away
    """

    ttft: float
    tpot: float
    mean_latency: float
    attainment: float
    preemptions: int
    verdict: str
    excess: float
    certain: bool
    set_aside: int = 0
    of: int = 0
    unserved: float = 0.0

    @property
    def is_met(self) -> bool:
        return self.excess <= 1

    @property
    def set_aside_share(self) -> float:
        """Of all requests."""
        return self.set_aside / self.of if self.of else 0.0


VERDICTS = (
    "backlog", "closed loop", "too short", "stable", "saturated", "sheds load", "overloaded"
)  # fmt: skip
METRICS: dict[str, tuple[str, Callable[[CellReading], float]]] = {
    "ttft": ("time to first token", lambda reading: reading.ttft),
    "tpot": ("time per output token", lambda reading: reading.tpot),
    "latency": ("mean latency", lambda reading: reading.mean_latency),
    "attainment": ("requests within the limits", lambda reading: reading.attainment),
    "preemptions": ("preemptions", lambda reading: reading.preemptions),
    "set_aside": ("requests set aside", lambda reading: reading.set_aside_share),
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
    for number, choice in enumerate(experiment.choices):
        progress(number / len(experiment.choices))
        try:
            run = experiment.run(choice)
        except InputError:  # nothing fits in M, a livelock, a router that knows no future
            readings.append(None)
        else:
            stands = verdict_of_law(run, experiment.source, experiment.deployment)
            readings.append(reading(run, objective, stands))
    return readings


def reading(run: Run, objective: Objective, load: Verdict) -> CellReading:
    """The numbers of one run, with the verdict that counts."""
    lost, aside = len(run.unserved), len(run.set_aside)
    return CellReading(
        ttft=objective.percentile(ttft(run), lost),
        tpot=objective.percentile(tpot(run), lost),
        mean_latency=float(run.latency.mean()),
        attainment=float(objective.within(run).sum() / run.offered),
        preemptions=int(run.preemptions.sum()),
        verdict=load.kind,
        excess=_excess(objective, run, load),
        certain=load.is_certain,
        set_aside=aside,
        of=run.offered + aside,
        unserved=lost / run.offered,
    )


def _excess(objective: Objective, run: Run, load: Verdict) -> float:
    reached = objective.excess(run) if objective.has_limits else CARRIED
    return reached if load.keeps_up else max(reached, OVERLOADED)
