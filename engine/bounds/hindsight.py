"""The hindsight optimum: nothing that keeps its KV cache does better, and something attains it."""

from engine import wording
from engine.bound import Bound
from engine.bound_method import BoundWords, bound_method
from engine.improve.hindsight import MOST_REQUESTS, best_in_hindsight

SECONDS = 10.0


def _cost(n: int) -> float:
    return 0.3 if n <= 12 else SECONDS if n <= MOST_REQUESTS else float("inf")


@bound_method(
    key="hindsight",
    title="Hindsight optimum",
    source="integer program of arXiv 2502.07115, equations 1 to 4",
    cost=lambda workload, memory: _cost(len(workload)),
    words=BoundWords(
        what="Solves the real task itself, for somebody who knows every request in advance: when "
        "to start each, once and for all.",
        why="The solver HiGHS has ruled out every better schedule. This has to be believed, as "
        "there is no short proof to check. Stopped early, only what was ruled out by then counts.",
    ),
    is_exact=True,
)
def hindsight(workload, memory, progress, time_limit, share):
    optimum = best_in_hindsight(workload, memory, time_limit or share * SECONDS, progress)
    best = wording.number(float(optimum.run.latency.sum()))
    how = (
        "integer program solved to proved optimality by HiGHS"
        if optimum.proved
        else f"integer program stopped after {optimum.seconds:g} s: HiGHS's lower bound; the best "
        f"schedule known has {best}"
    )
    return [Bound("hindsight", optimum.lower, True, False, how)]
