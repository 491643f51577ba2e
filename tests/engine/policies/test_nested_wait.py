"""Nested WAIT where somebody stands at a gate for very long."""

import pytest

from engine import ROUNDS, Workload, find_policy
from engine.errors import Livelock


def test_a_long_wait_at_a_gate_is_no_hang():
    """#0 stands at the gate with 10 of 15 tokens; a small one wants 7 and restarts each time."""
    others = 20
    workload = Workload(
        [0] * (1 + others) + [10**9], [5] + [3] * others + [1], [10] + [4] * others + [1]
    )
    params = {"segments": 2, "group": 16}
    soon = find_policy("nested-wait").run(workload, 15, ROUNDS, max_wait=50.0, **params)
    assert len(soon.workload) == others + 2
    with pytest.raises(Livelock, match=r"nested-wait\.max_wait"):
        find_policy("nested-wait").run(workload, 15, ROUNDS, max_wait=1e9, **params)
