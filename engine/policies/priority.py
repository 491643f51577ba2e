"""Smallest priority number first, as engines with priorities do."""

from engine.policy import ordered_policy


@ordered_policy(
    key="priority",
    title="By priority",
    rule="Starts the request with the smallest priority number first, as soon as it fits; among "
    "equals the one that came first.",
    source="vLLM v1 scheduler, --scheduling-policy priority",
    group="deployed",
    order_uses_lengths=False,
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.priority)
