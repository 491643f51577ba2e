"""MC-SF: shortest output first."""

from engine.policy import ordered_policy


@ordered_policy(
    key="mc-sf",
    title="MC-SF",
    rule="Starts the request with the shortest output first, as soon as it fits.",
    source="arXiv 2502.07115, Algorithm 1",
    group="classic",
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.output)
