"""How fast the first bound is: 5 ms at 2,000, 0.2 s at 100,000, 3 s at 1,000,000 requests."""

import pytest

from engine import find_method


@pytest.mark.parametrize("n", [2000, 100_000, 1_000_000])
def test_fluid(n, mix, paired, argsort):
    """Backlog, M = 16,492."""
    workload = mix(n)
    paired(lambda: find_method("fluid").bounds(workload, 16_492), argsort, rounds=3)
