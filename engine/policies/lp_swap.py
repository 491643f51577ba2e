"""LP-Swap: batches cut from Sorted-LP's order, each improved by local search on F."""

import numpy as np

from engine.batches.peel import peel
from engine.batches.swap import improve
from engine.policy import ordered_policy
from engine.policy_parameters import GRIDS
from engine.proof.ascent.mean_start import mean_starts


@ordered_policy(
    key="lp-swap",
    title="LP-Swap",
    rule="Cuts batches that fit into M from Sorted-LP's order, improves each by exchanges that "
    "lower F, and starts requests in that order as soon as the next one fits.",
    source="arXiv 2508.06133, reconstructed from summaries",
    group="provable",
    reconstructed=True,
    offline=True,
    params=(GRIDS,),
    cost=lambda n: 0.1 + 1e-3 * n + 2e-6 * n + 1e-9 * n**2,
)
def order(workload, memory, progress, grids):
    mean = mean_starts(workload, memory, grids, progress)
    left = mean[np.argsort(workload.row, kind="stable")]  # as `peel` hands out what remains

    def cut_and_improve(output, size, memory):
        nonlocal left
        by_start = np.argsort(left, kind="stable")
        chosen = np.zeros(len(left), bool)
        chosen[by_start[np.cumsum(size[by_start]) <= memory]] = True
        chosen = improve(chosen, output, size, memory)
        left = left[~chosen]
        return chosen

    return peel(workload, memory, cut_and_improve).order
