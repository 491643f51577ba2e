"""Sorted-F with batches by local search."""

from engine.batches.peel import peel
from engine.batches.swap import seconds, swap
from engine.policy import ordered_policy


@ordered_policy(
    key="sorted-f-swap",
    title="Sorted-F, local search",
    rule="Sorted-F whose batches start greedy and exchange, add and drop requests while that "
    "lowers F.",
    source="arXiv 2508.06133; greedy starts and moves reconstructed from summaries",
    group="provable",
    reconstructed=True,
    offline=True,
    cost=seconds,
)
def order(workload, memory, progress):
    return peel(workload, memory, swap, progress).order
