"""Compiling ahead."""

import os

from engine import METHODS, POLICIES
from engine.cli import main, warm


def test_each_is_run_on_both_clocks(monkeypatch, capsys):
    """With its switches the other way, too; a bound on the clocks that it speaks of."""
    units = []

    class Noted:
        params = POLICIES["vllm"].params

        def run(self, workload, memory, clock, **params):
            units.append((clock.unit, *params))

    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(warm, "POLICIES", {"vllm": Noted()})
    monkeypatch.setattr(warm, "METHODS", {"fluid": METHODS["fluid"]})
    assert main(["warm"]) == 0
    expected = [(), ("chunked_prefill",), ("swap",)]
    assert sorted(units) == sorted((unit, *k) for unit in ("rounds", "seconds") for k in expected)
    assert capsys.readouterr().out == "compiled: 1 policies, 1 bounds\n"
