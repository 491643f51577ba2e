"""The best schedule that a budget of search finds."""

from engine.decisions.plans import as_planned
from engine.improve import improved
from engine.policy import policy
from engine.policy_parameters import Param
from engine.progress import Found
from engine.simulate.replay import planned

SECONDS = Param(
    "seconds",
    1.0,
    0.1,
    600.0,
    "Work to spend, in seconds of the machine it was measured on; the same work gives the same "
    "schedule everywhere.",
)


@policy(
    key="best-found",
    title="Best found",
    rule="Searches offline: a beam of random schedules guided by prices of memory, then small "
    "groups of requests taken out and put back better.",
    source="ours; the identity behind it is in engine/proof/dual",
    group="ours",
    offline=True,
    params=(SECONDS,),
    account=as_planned,
    cost=lambda n: 1.5 + 1e-4 * n,
)
def simulate(workload, memory, clock, progress, seconds):
    def report_better(share, sentence, start):
        """Tell of better starts as the schedule that they are on this clock."""
        schedule = planned(workload, memory, clock, lambda in_rounds: start)
        progress(share, Found(sentence, schedule))

    return planned(
        workload,
        memory,
        clock,
        lambda in_rounds: improved(in_rounds, memory, seconds, progress, report_better),
    )
