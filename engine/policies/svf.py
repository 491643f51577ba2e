"""SVF: smallest volume first."""

from engine.policy import ordered_policy


@ordered_policy(
    key="svf",
    title="Smallest volume first",
    rule="Starts the request with the smallest volume s*o + o(o+1)/2 first, as soon as it fits.",
    source="arXiv 2606.22327 (ratio 1 + 2/(1-a), a = max(s+o)/M)",
    group="provable",
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.volume)
