"""Sorted-LP: in order of the start that the linear relaxation gives each request on average."""

from engine.policy import ordered_policy
from engine.policy_parameters import GRIDS
from engine.proof.ascent.mean_start import mean_starts


@ordered_policy(
    key="sorted-lp",
    title="Sorted-LP",
    rule="Solves the LP relaxation and starts requests in order of their mean start in it, as soon "
    "as the next one fits.",
    source="arXiv 2508.06133, reconstructed from summaries",
    group="provable",
    reconstructed=True,
    offline=True,
    params=(GRIDS,),
    cost=lambda n: 0.1 + 1e-3 * n,
)
def order(workload, memory, progress, grids):
    return workload.ascending(mean_starts(workload, memory, grids, progress))
