"""Sorted-F with exact batches."""

from engine.batches.exact import exact, seconds
from engine.batches.peel import peel
from engine.policy import ordered_policy


@ordered_policy(
    key="sorted-f-exact",
    title="Sorted-F, exact batches",
    rule="Sorted-F whose batches have the least F there is, by dynamic programming; up to 100 "
    "requests.",
    source="arXiv 2508.06133; its program over (count, memory) reconstructed as one over "
    "(count, outputs, memory)",
    group="provable",
    reconstructed=True,
    offline=True,
    cost=seconds,
)
def order(workload, memory, progress):
    return peel(workload, memory, exact, progress).order
