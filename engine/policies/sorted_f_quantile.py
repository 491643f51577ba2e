"""Sorted-F with batches by sampled quantiles."""

from engine.batches.quantile import quantile, seconds
from engine.policy import ordered_policy


@ordered_policy(
    key="sorted-f-quantile",
    title="Sorted-F, quantiles",
    rule="Sorted-F whose batches are the best of a few fills by ascending output, each below a "
    "sampled quantile of prompt + output.",
    source="arXiv 2508.06133; the choice of quantiles reconstructed from summaries",
    group="provable",
    reconstructed=True,
    offline=True,
    cost=seconds,
)
def order(workload, memory, progress):
    return quantile(workload, memory, progress).order
