"""What `best-found` reaches for its budget."""

import pytest

from engine import find_method, find_policy, gap


@pytest.mark.parametrize(
    ("n", "units"), [(2000, 1), (2000, 6), (2000, 30), (5000, 1), (5000, 6), (20_000, 6)]
)
def test_best_found(n, units, mix, benchmark):
    """Backlog, M = 16,492; the gap to `prices` goes into the benchmark's record."""
    workload = mix(n)
    bounds = find_method("prices").bounds(workload, 16_492)
    search = find_policy("best-found")
    search.run(mix(200), 16_492)  # compile
    run = benchmark.pedantic(
        lambda: search.run(workload, 16_492, seconds=units), rounds=3 if units == 1 else 1
    )
    percent = 100 * (gap(run, bounds) - 1)
    benchmark.extra_info["gap_percent"] = percent
    print(f"\n{n:,} requests, {units} units: +{percent:.2f} % in {benchmark.stats['mean']:.3g} s")
