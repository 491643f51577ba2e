"""Shortest prompt first."""

from engine.policy import ordered_policy


@ordered_policy(
    key="shortest-prompt",
    title="Shortest prompt first",
    rule="Starts the request with the shortest prompt first, as soon as it fits.",
    source="baseline in arXiv 2508.06133",
    group="classic",
    order_uses_lengths=False,
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.prompt)
