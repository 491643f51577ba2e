"""The scale of the fluid's prices: where a smaller one is not tried."""

import numpy as np

from engine import Scenario, Workload, generate
from engine.proof import fluid
from engine.proof.dual import convex_prices, evaluate
from engine.simulate.schedule import visible_rounds


def prices_of(workload, memory):
    if fluid.all_at_once(workload.arrival):
        return convex_prices(workload, fluid.backlog_falls(workload.volume, memory))
    return fluid.arrival_prices(visible_rounds(workload.arrival), workload.volume, memory)


def test_what_is_foretold_comes():
    """Where the cheapest starts say that less prices bound less, they do."""
    rng = np.random.default_rng(0)
    foretold = 0
    for case in range(150):
        n = int(rng.integers(1, 40))
        prompt, output = rng.integers(1, 30, (2, n))
        arrival = rng.integers(0, 60, n) if case % 2 else np.zeros(n)
        workload = Workload(arrival, prompt, output)
        memory = int((prompt + output).max() + rng.integers(0, 200))
        for scale in (0.5, 1, 2):
            prices = scale * prices_of(workload, memory)
            dual = evaluate(workload, memory, prices)
            if fluid._falls_below(dual, workload, memory):
                foretold += 1
                assert evaluate(workload, memory, prices * 7 / 8).value < dual.value
    assert foretold > 50


def test_a_long_backlog_is_evaluated_once(monkeypatch):
    """The whole prices are the best of the eighths there, as is known without the next."""
    drawn = generate(Scenario(n=4000))
    workload = Workload(np.zeros(4000), drawn.prompt % 50 + 1, drawn.output % 50 + 1)
    asked = []

    def counted(*arguments):
        asked.append(arguments)
        return evaluate(*arguments)

    monkeypatch.setattr(fluid, "evaluate", counted)
    (dual,) = fluid.fluid_duals(workload, 200)
    assert len(asked) == 1
    less = convex_prices(workload, fluid.backlog_falls(workload.volume, 200) * 7 / 8)
    assert evaluate(workload, 200, less).value < dual.value
