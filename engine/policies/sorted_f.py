"""Sorted-F: batches of least F, by the solver that suits the number of requests."""

from engine.batches.choose import seconds, sorted_batches
from engine.policy import ordered_policy


@ordered_policy(
    key="sorted-f",
    title="Sorted-F",
    rule="Lists batches, each with the least sum of outputs over its squared count that it can "
    "have in M, and starts requests in that order as soon as the next one fits; batches are exact "
    "up to 100 requests, by local search up to 2,000, by sampled quantiles above.",
    source="arXiv 2508.06133 (ratio 48); solvers reconstructed from its abstract and summaries",
    group="provable",
    reconstructed=True,
    offline=True,
    cost=seconds,
)
def order(workload, memory, progress):
    return sorted_batches(workload, memory, progress).order
