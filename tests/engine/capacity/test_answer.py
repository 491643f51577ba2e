"""Capacity in words: who serves how much, with how many servers, and at what price."""

import numpy as np
import pytest

from engine import (
    ROUNDS,
    Choice,
    Deployment,
    Scenario,
    Workload,
    find_policy,
    wording,
)
from engine.capacity.answer import answer, caveats
from engine.capacity.border import Border
from engine.capacity.cost import Price, price_of, prices
from engine.capacity.draws import Draws
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer
from engine.capacity.rate import Capacity, largest_rate
from engine.capacity.records import rows
from engine.capacity.servers import Servers
from engine.machine.catalogue import gpus
from engine.machine.hardware import presets
from engine.measure.slo import Slo
from engine.memory_curve import peak_memory
from tests.engine.capacity.test_rate import LARGE, ask


def offer(key, rate, count):
    found = Capacity(Choice(key), (0, 1), (Border(rate, 1.01 * rate),) * 2)
    return Offer(found, None if count is None else Servers(key, 25.0, count, ()))


@pytest.mark.parametrize(
    ("offers", "says"),
    [
        (
            [offer("vllm", 9.8, 3), offer("svf", 14.2, 2)],
            "**svf** serves 14.2 a second on one A100, **vllm** 9.80: for 25 a second two servers "
            "instead of three.",
        ),
        (
            [offer("vllm", 9.8, 3), offer("svf", 14.2, 3)],
            "**svf** serves 14.2 a second on one A100, **vllm** 9.80: for 25 a second both take "
            "three servers.",
        ),
        (
            [offer("svf", 14.2, 14)],
            "**svf** serves 14.2 a second on one A100: for 25 a second it takes 14 servers.",
        ),
        ([offer("svf", 14.2, None)], "**svf** serves 14.2 a second on one A100."),
        (
            [offer("svf", 10.0, 3), offer("fcfs", 9.9, 3)],
            "All policies serve practically the same, 10 a second on one A100: for 25 a second "
            "it takes three servers.",
        ),
        (
            [offer("svf", 10.0, 4), offer("fcfs", 9.9, 3)],
            "All policies serve practically the same, 10 a second on one A100: for 25 a second "
            "it takes three to four servers.",
        ),
        (
            [offer("svf", 10.0, 4), offer("fcfs", 9.9, 3), offer("mc-sf", 5.0, 6)],
            "**svf** serves 10 a second on one A100, and **fcfs** practically the same (9.90): "
            "for 25 a second four servers, with fcfs three.",
        ),
        (
            [offer("svf", 10.0, None), offer("fcfs", 0.0, None)],
            "**svf** serves 10 a second on one A100, **fcfs** keeps within the limits at no rate.",
        ),
    ],
)
def test_answer_in_words(offers, says):
    """One sentence, whoever wins and by however much."""
    assert answer(offers, 25.0, "seconds", "one A100").replace("\u202f", " ") == says


def drawn(key, *rates):
    """An offer with one border a seed."""
    borders = tuple(Border(rate, 1.01 * rate) for rate in rates)
    return Offer(Capacity(Choice(key), tuple(range(len(rates))), borders))


def test_chance_makes_no_winner():
    """7.66 against 7.47 with wide intervals, now one ahead and now the other, is no difference;
    the same means, always in one order, is one, and the interval is told."""
    vllm, fcfs = drawn("vllm", 5.9, 9.1, 7.0, 8.64), drawn("fcfs", 6.4, 8.6, 6.4, 8.5)
    told = answer([vllm, fcfs], 25.0, "seconds", "one A100").replace("\u202f", " ")
    assert told.startswith("All policies serve the same within chance, 7.66 a second (95 % int")
    svf = drawn("svf", 6.0, 9.0, 6.9, 8.7)
    less = drawn("vllm", 5.1, 8.1, 6.0, 7.8)
    told = answer([less, svf], 25.0, "seconds", "one A100").replace("\u202f", " ")
    low, high = svf.capacity.interval
    assert told.startswith("**svf** serves 7.65 a second (95 % interval ")
    assert f"{low:.2f} to {high:.3g}" in told
    assert "**vllm** 6.75 (95 % interval " in told


def test_who_was_not_run_is_named():
    """Not in `all policies`, and beneath the answer whoever wins."""
    offers = [offer("svf", 10.0, None), offer("fcfs", 9.9, None)]
    told = answer(offers, 25.0, "seconds", "one A100", not_run=["sorted-f", "a-max"])
    assert told.startswith("All policies that were run (sorted-f and a-max not yet) serve pract")
    assert caveats([Choice("svf")], ["a-max"])[-1] == "Not run: a-max."


@pytest.mark.parametrize(("memory", "helps"), [(16_492, False), (750, True)])
def test_a_missed_limit_is_named_with_what_is_reached(memory, helps):
    """The percentile of a run at the least rate; memory is advised only where it is full."""
    draws = Draws(Scenario(n=200, mix=(("short", 1.0),), arrivals="poisson", rate=0.02), 1)
    objective = Objective(Slo(latency=0.01, tpot=100.0))
    found = largest_rate(Choice("vllm"), ask(draws, objective, memory))
    short = found.shortfall
    run = find_policy("vllm").run(draws.at(short.rate, 0), memory, clock=LARGE)
    assert found.rate is None
    (miss,) = short.misses
    assert miss.reached == pytest.approx(np.percentile(run.latency, 99))
    told = answer([Offer(found)], 5.0, "seconds", "one server", objective)
    assert f"a P99 end-to-end latency of {wording.number(miss.reached)}" in told
    assert ("give more memory" in told) == helps == (short.memory >= 0.9)
    assert ("memory is not why" in told) == (short.memory < 0.9)
    assert short.memory == pytest.approx(peak_memory(run) / memory)


def test_caveats():
    """What the best is told, and who ranks requests that have not arrived."""
    offers = [offer("sorted-f", 14.0, 2), offer("vllm", 9.0, 3)]
    assert caveats([of.capacity.choice for of in offers]) == [
        "sorted-f uses output lengths, in its order or its look-ahead.",
        "sorted-f ranks also requests that have not arrived.",
    ]
    assert caveats([offers[1].capacity.choice]) == []


def test_cost():
    """By hand: 3 servers of 4 GPUs at 2.5 USD serve 25 * 100 tokens a second."""
    price = Price(2.5, 4)
    assert price.an_hour(3) == 30
    assert price.a_million_tokens(3, 25.0, 100.0, LARGE) == pytest.approx(30 / 9)
    assert price.a_million_tokens(3, 25.0, 100.0, ROUNDS) is None
    requests = Workload([0, 1, 2, 3], [50] * 4, [100] * 3 + [500])
    (row,) = rows([offer("svf", 14.2, 3)], 25.0, requests, Deployment(200, LARGE), price)
    assert (row["servers"], row["cost_per_hour"]) == (3, 30)
    assert (row["set_aside"], row["set_aside_share"]) == (1, 0.25)
    assert row["cost_per_million_tokens"] == pytest.approx(30 / 9 / 0.75)
    assert row["cost_per_million_input_tokens"] == pytest.approx(2 * 30 / 9 / 0.75)
    assert row["cost_per_million_total_tokens"] == pytest.approx(30 / 13.5 / 0.75)


def test_every_gpu_has_a_price():
    """The example list covers what the presets name."""
    assert set(gpus()) == set(prices())
    assert price_of(presets()["llama-2-70b-a100-tp4"]) == Price(prices()["a100-80gb"], 4)
    assert price_of(None) == price_of(presets()["wait-paper"])
