"""How fast bounds are and how far they reach."""

import json
from pathlib import Path

import pytest

from engine import find_method
from engine.machine.clock import seconds_clock

REFERENCES = json.loads(
    (Path(__file__).parents[1] / "tests/engine/bounds/reference_lp.json").read_text()
)


@pytest.mark.parametrize("n", [2000, 100_000, 1_000_000])
def test_fluid(n, mix, paired, argsort):
    """Backlog, M = 16,492: the bars are 5 ms, 0.2 s and 3 s."""
    workload = mix(n)
    paired(lambda: find_method("fluid").bounds(workload, 16_492), argsort, rounds=3)


@pytest.mark.parametrize("n", [300, 2000, 20_000])
def test_prices_in_seconds(n, mix, paired, argsort):
    """Both rows on the 70B hinge preset: 2 s at 2,000 requests."""
    workload = mix(n)
    clock = seconds_clock(0.0372, 0.0001965, 90, 5.67e-8, 4.2e-5)
    prices = find_method("prices")
    paired(lambda: prices.bounds(workload, 16_492, clock=clock), argsort, rounds=3)


@pytest.mark.parametrize("kept", REFERENCES, ids=lambda kept: str(kept["n"]))
def test_prices(kept, mix, paired, argsort, benchmark):
    """Both rows; the bars are 1 s and 0.1 % of the LP at 200 and 1,000, 3 s and 0.02 % at 2,000."""
    workload = mix(kept["n"])
    limit = 3.0 if kept["n"] == 2000 else 1.0
    value = find_method("prices").bounds(workload, 16_492, time_limit=limit)[0].value
    benchmark.extra_info["percent_below_lp"] = 100 * (1 - value / kept["at_most"])
    print(f"\nat most {benchmark.extra_info['percent_below_lp']:.4f} % below the LP")
    paired(
        lambda: find_method("prices").bounds(workload, 16_492, time_limit=limit), argsort, rounds=3
    )
