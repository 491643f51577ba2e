"""Smallest total size first."""

from engine.policy import ordered_policy


@ordered_policy(
    key="shortest-total",
    title="Smallest total first",
    rule="Starts the request with the smallest prompt + output first, as soon as it fits.",
    source="baseline in arXiv 2508.06133",
    group="classic",
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.peak)
