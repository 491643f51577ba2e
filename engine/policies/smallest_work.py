"""Smallest work first: svf with seconds of machine work in place of token-rounds of memory."""

from engine.policy import ordered_policy
from engine.proof.work.envelope import floors, work


@ordered_policy(
    key="smallest-work",
    title="Smallest work first",
    rule="Starts the request with the least machine work first, as soon as it fits: its seconds "
    "of prefill, decoding and share of memory. In rounds this is the smallest volume.",
    source="ours: the work whose prices bound every schedule in seconds",
    group="ours",
    cost=lambda n: 3e-7 * n,
)
def order(workload, memory, clock):
    if clock.is_rounds:
        return workload.ascending(workload.volume)
    works = [work(workload, memory, clock.step, floor) for floor in floors(clock.step)]
    return workload.ascending(sum(request_work.total for request_work in works))
