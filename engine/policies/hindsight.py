"""The hindsight optimum, or the best schedule its solver found in time."""

from engine.decisions.plans import as_planned
from engine.improve.hindsight import MOST_REQUESTS, best_in_hindsight
from engine.policy import policy
from engine.policy_parameters import Param
from engine.simulate.replay import planned

SECONDS = Param("seconds", 10.0, 0.1, 3600.0, "Seconds the solver may take.")


@policy(
    key="hindsight",
    title="Hindsight optimum",
    rule="Solves the integer program over all schedules that keep their KV caches, knowing "
    "all arrivals and taking predicted outputs for the truth; within its time limit it may end "
    "with less than the optimum.",
    source="arXiv 2502.07115, equations 1 to 4",
    group="provable",
    offline=True,
    timed=True,
    params=(SECONDS,),
    account=as_planned,
    cost=lambda n: 0.3 if n <= 12 else 10.0 if n <= MOST_REQUESTS else float("inf"),
)
def simulate(workload, memory, clock, progress, seconds):
    return planned(
        workload,
        memory,
        clock,
        lambda in_rounds: best_in_hindsight(in_rounds, memory, seconds, progress).run.start,
    )
