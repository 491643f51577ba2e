"""Sorted-F as requests arrive: the next batch is chosen anew from what waits."""

import numpy as np

from engine.batches.choose import exact_or_swap
from engine.batches.exact import LIMIT
from engine.batches.swap import swap
from engine.policy import policy
from engine.simulate.replanning import replanning


@policy(
    key="sorted-f-online",
    title="Sorted-F online",
    rule="Chooses the batch of least F from the requests that wait, starts it in order of output, "
    "and chooses again when requests arrive or the next one does not fit.",
    source="receding horizon of arXiv 2508.06133, reconstructed",
    group="provable",
    reconstructed=True,
    cost=lambda n: 2e-4 * n + 1e-7 * n**2,
)
def simulate(workload, memory, clock, progress):
    rank = np.empty(len(workload), np.int64)
    rank[workload.ascending(workload.output)] = np.arange(len(workload))

    def batch(waiting):
        waiting = waiting[np.argsort(workload.row[waiting], kind="stable")]
        solve = exact_or_swap if len(waiting) <= LIMIT else swap
        chosen = waiting[solve(workload.output[waiting], workload.peak[waiting], memory)]
        return chosen[np.argsort(rank[chosen])]

    return replanning(workload, memory, batch, clock, progress)
