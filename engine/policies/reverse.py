"""Largest volume first: deliberately bad."""

from engine.policy import ordered_policy


@ordered_policy(
    key="reverse",
    title="Largest volume first",
    rule="Deliberately bad: starts the largest volume first, to show that the metrics react.",
    source="ours",
    group="ours",
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(-workload.volume)
