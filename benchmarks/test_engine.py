"""How fast the kernels are against numpy.argsort of a million floats and against plain Python."""

import pytest

from engine import POLICIES, find_policy
from tests.twins import twin

LISTS = ("fcfs", "mc-sf", "shortest-prompt", "shortest-total", "svf", "reverse")


@pytest.mark.parametrize("key", [*LISTS, "vllm"])
def test_million_requests(key, mix, paired, argsort):
    """n = 1,000,000, M = 131,072: the bars are 10 for fcfs and 40 for the slowest list."""
    workload = mix(1_000_000)
    paired(lambda: find_policy(key).run(workload, 131_072), argsort)


@pytest.mark.parametrize("key", [*LISTS, "vllm", "sorted-f", "sorted-f-quantile"])
def test_two_thousand_requests(key, mix, paired, argsort):
    """n = 2,000, M = 16,492: the bars are 1.5 ms a list policy and 20 ms for vllm."""
    workload = mix(2000)
    paired(lambda: find_policy(key).run(workload, 16_492), argsort, rounds=25)


def test_against_plain_python(mix, paired):
    """The same starts from the round-by-round twin, on 200 requests: the bar is 1,000 x."""
    workload = mix(200)
    order = workload.ascending(workload.volume)
    small = find_policy("svf")
    paired(
        lambda: twin.look_ahead_starts(workload, 16_492, order.tolist()),
        lambda: small.run(workload, 16_492),
        rounds=3,
    )


@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000])
def test_quantile_is_linear(n, mix, paired, argsort):
    """Time a request stays the same from 10,000 to 1,000,000."""
    workload = mix(n)
    paired(lambda: POLICIES["sorted-f-quantile"].run(workload, 16_492), argsort, rounds=3)
