"""Sorted-F with A_min: batches by lower bounds that are raised as they turn out too low."""

from engine.decisions.bounds import raised_bounds
from engine.policies.sorted_f_online import along_batches, in_batches
from engine.policy import policy
from engine.policy_parameters import MARGIN
from engine.simulate.preempting import admission_limit


def account(decision):
    """The batch of least F by the bounds raised by then, also after an eviction."""
    return along_batches(decision, raised_bounds(decision))


@policy(
    key="sorted-f-amin",
    title="Sorted-F + A-min",
    rule="Sorted-F online with the lower end of each predicted interval for its output; when "
    "memory runs out, those with the lowest start over, what they had generated becomes their "
    "lower end, and the next batch is chosen anew.",
    source="arXiv 2508.06133, its combination with 2508.14544, reconstructed from summaries",
    group="provable",
    reconstructed=True,
    params=(MARGIN,),
    account=account,
    cost=lambda n: 3e-4 * n + 1e-7 * n**2,
)
def simulate(workload, memory, clock, progress, margin):
    seen = workload.believing(workload.at_least, memory)
    limit = admission_limit(memory, margin)
    return in_batches(workload, memory, seen.output, True, limit, clock, progress)
