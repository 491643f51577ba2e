"""How fast the first bound is: 5 ms at 2,000, 0.2 s at 100,000, 3 s at 1,000,000 requests."""

import pytest

from engine import find_method
from engine.clock import seconds_clock


@pytest.mark.parametrize("n", [2000, 100_000, 1_000_000])
def test_fluid(n, mix, paired, argsort):
    """Backlog, M = 16,492."""
    workload = mix(n)
    paired(lambda: find_method("fluid").bounds(workload, 16_492), argsort, rounds=3)


@pytest.mark.parametrize("n", [300, 2000, 20_000])
def test_prices_in_seconds(n, mix, paired, argsort):
    """Both rows on the 70B hinge preset: 2 s at 2,000 requests."""
    workload = mix(n)
    clock = seconds_clock(0.0372, 0.0001965, 90, 5.67e-8, 4.2e-5)
    prices = find_method("prices")
    paired(lambda: prices.bounds(workload, 16_492, clock=clock), argsort, rounds=3)
