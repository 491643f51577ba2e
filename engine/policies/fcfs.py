"""First come, first served."""

from engine.policy import ordered_policy


@ordered_policy(
    key="fcfs",
    title="First come, first served",
    rule="Starts requests in order of arrival, as soon as the next one fits.",
    source="arXiv 2502.07115, MC-Benchmark",
    group="classic",
    order_uses_lengths=False,
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.arrival)
