"""Servers by the hour are those of the hour's load; what a tenth more buys is a new bisection."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Choice, Deployment, InputError, Scenario, Topology, Workload
from engine.capacity import day, levers
from engine.capacity.cost import Price
from engine.capacity.day import DayPlan, daily_curve, hourly_rates, pareto, plans, read_rates
from engine.capacity.draws import Draws
from engine.capacity.levers import LIMITS, MEMORY, SPEED, LeverEffect, binding, effects, memory_use
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.capacity.servers import fewest_servers
from engine.figures.day import describe_day, describe_pareto, draw_day, draw_pareto
from engine.machine.hardware import presets
from engine.measure.slo import Slo

CLOCK = presets()["llama-2-70b-a100-tp4"].clock
OBJECTIVE = Objective(Slo(ttft=10))
SVF = Choice("svf")


@pytest.fixture(scope="module")
def draws():
    return Draws(Scenario(n=400, arrivals="poisson", rate=1.6), 2)


@pytest.fixture(scope="module")
def question(draws):
    return Question(draws, Deployment(16_492, CLOCK), OBJECTIVE)


@pytest.fixture(scope="module")
def capacity(question):
    return largest_rate(SVF, question)


@pytest.fixture(scope="module")
def found(question, capacity):
    return plans(capacity, question, (0.0, 1.0, 6.0, 6.0, 3.0))


def test_each_hour_has_the_fewest_servers(found, question, capacity):
    """Those of its own load; none without arrivals."""
    lean = found[0]
    assert lean.servers[0] == 0
    for rate, count in zip(lean.rates[1:], lean.servers[1:], strict=True):
        assert fewest_servers(capacity, question, rate).count == count
    assert lean.servers[2] == lean.servers[3]


def test_tails_equal_direct_runs(found, draws):
    """The percentile of every hour, with and without spare servers."""
    for plan in found:
        for rate, count, tail in list(zip(plan.rates, plan.servers, plan.tails, strict=True))[1:]:
            runs = [
                Deployment(16_492, CLOCK, Topology(count)).run(
                    SVF, draws.at(rate, seed, 400 * count)
                )
                for seed in draws.seeds
            ]
            assert tail == pytest.approx(np.mean([np.percentile(r.latency, 99) for r in runs]))


def test_a_day_is_always_the_same(found, question, capacity):
    """Nothing is left to chance."""
    assert plans(capacity, question, found[0].rates) == found


def test_no_rate_no_plan(question):
    """Where nothing is carried there is no number of servers."""
    strict = replace(question, objective=Objective(Slo(ttft=1e-3)))
    none = largest_rate(SVF, strict)
    assert plans(none, strict, (1.0,)) == []
    with pytest.raises(InputError, match="not for pools"):
        plans(none, strict.with_servers(Topology(pools=(1, 1))), (1.0,))


def plan(key, spare, servers, worst):
    hours = len(servers)
    return DayPlan(Choice(key), spare, (1.0,) * hours, servers, (worst,) * hours)


def test_cost_of_a_day_by_hand():
    """Server-hours, start-ups of those that join (from yesterday's last hour on), the peak."""
    lean = plan("svf", 0, (2, 2, 5, 3), 9.0)
    price = Price(2.0, 4)
    assert lean.server_hours() == 12
    assert lean.server_hours(0.5) == 12 + 0.5 * 3
    assert lean.cost(price, 0.5) == 8 * 13.5
    assert lean.cost_of_peak(price) == 8 * 20


def test_pareto_by_brute_force():
    """A plan is on the front when no other is at least as good in both and better in one."""
    some = [
        plan("svf", 0, (int(count),), float(worst))
        for count, worst in np.random.default_rng(0).integers(1, 9, (30, 2))
    ]

    def cost(a):
        return float(a.servers[0])

    def beats(a, b):
        pair = (cost(a), a.worst), (cost(b), b.worst)
        return pair[0] != pair[1] and all(x <= y for x, y in zip(*pair, strict=True))

    best = {(cost(a), a.worst) for a in some if not any(beats(b, a) for b in some)}
    front = pareto(some, cost)
    assert [(cost(a), a.worst) for a in front] == sorted(best)


def test_words_and_figures(found):
    """The cheapest policy against the peak all day and the dearest; both charts draw."""
    fat = plan("vllm", 0, (9,) * 5, 8.0)
    price = Price()
    told = day.in_words([*found, fat], price, 0.1)
    assert told.startswith("**svf** needs 0 to ")
    assert "under vllm" in told
    both = [*found, fat]
    assert len(draw_day(both).data) == 2
    assert "vllm 9 to 9" in describe_day(both)
    chart = draw_pareto(both, lambda a: a.cost(price), "seconds", 99.0)
    assert chart.data[-1].name == "nobody beats"
    assert "USD" in describe_pareto(both, lambda a: a.cost(price), "seconds")


def test_rates_of_a_day():
    """24 of them: the built-in curve scaled, typed, or counted in a trace of two days."""
    assert (len(daily_curve(8.0)), max(daily_curve(8.0))) == (24, 8.0)
    assert read_rates(", ".join(["2"] * 24)) == (2.0,) * 24
    for text, says in (("1 2 3", "24 rates"), ("x " * 24, "numbers"), ("-1 " * 24, "rate of")):
        with pytest.raises(InputError, match=says):
            read_rates(text)
    hour = np.arange(36) * 100.0
    arrival = np.concatenate([hour, 3600 + np.arange(72) * 50.0, 86_400 + hour])
    trace = Workload(arrival + 5, np.ones(144), np.ones(144))
    rates = hourly_rates(trace)
    assert rates[:3] == pytest.approx((0.01, 0.02, 0.0))
    assert len(rates) == 24


@pytest.mark.parametrize(
    ("arrival", "rates"),
    [
        (np.arange(5400.0), (1.0, 1.0, 0.0)),  # 1 a second for 90 minutes
        (np.arange(3601.0), (1.0, 1.0, 0.0)),
        ([7.0], (1 / 3600, 0.0, 0.0)),
    ],
)
def test_an_hour_covered_in_part(arrival, rates):
    """Has the rate of the part that is covered."""
    ones = np.ones(len(arrival), int)
    assert hourly_rates(Workload(arrival, ones, ones))[:3] == pytest.approx(rates)


def test_levers_are_bisections(question, capacity):
    """Each effect is the rate of the changed server over that of the present one."""
    got = effects(capacity, question)
    by_kind = {effect.kind: effect for effect in got}
    assert {"memory", "speed", "limits", "c0", "c1"} <= set(by_kind)
    more = largest_rate(SVF, replace(question, deployment=Deployment(18_141, CLOCK)))
    assert by_kind[MEMORY].rate == more.rate
    assert by_kind[MEMORY].gain == pytest.approx(more.rate / capacity.rate - 1)
    assert by_kind[SPEED].gain > 0
    assert [effect.gain for effect in got] == sorted((e.gain for e in got), reverse=True)


def test_a_faster_gpu_is_the_same_in_other_seconds(question):
    """Without limits, a GPU a tenth faster carries exactly a tenth more."""
    free = replace(question, objective=Objective())
    plain = largest_rate(SVF, free)
    (faster,) = [lever for lever in levers.levers(free) if lever.kind == SPEED]
    quick = largest_rate(SVF, faster.question)
    assert quick.rate / plain.rate == pytest.approx(1.1, rel=0.015)


def test_rounds_have_no_speed(draws):
    """Only memory, and the limits where there are any."""
    in_rounds = Question(draws, Deployment(100))
    limited = replace(in_rounds, objective=OBJECTIVE)
    assert [lever.kind for lever in levers.levers(in_rounds)] == [MEMORY]
    assert [lever.kind for lever in levers.levers(limited)] == [MEMORY, LIMITS]


def effect(kind, gain):
    return LeverEffect(f"lever {kind}", kind, 1 + gain, gain)


@pytest.mark.parametrize(
    ("gains", "binds", "says"),
    [
        ({MEMORY: 0.12, SPEED: 0.03, "c0": 0.02}, (MEMORY,), "Memory binds:"),
        (
            {SPEED: 0.1, "c1": 0.06, "c0": 0.01, MEMORY: 0.0},
            (SPEED,),
            "The GPU's time binds (most of it computing tokens):",
        ),
        (
            {MEMORY: 0.1, SPEED: 0.09, "c0": 0.05},
            (MEMORY, SPEED),
            "Memory and the GPU's time bind alike (most of it reading the weights):",
        ),
        ({LIMITS: 0.05, MEMORY: 0.0}, (LIMITS,), "The limits themselves bind:"),
        ({MEMORY: 0.002}, (), "No change of a tenth buys a hundredth more:"),
    ],
)
def test_binding_in_words(gains, binds, says):
    """The lever that buys most names the resource, and one that buys nearly as much too."""
    got = [effect(kind, gain) for kind, gain in gains.items()]
    assert binding(got) == binds
    assert levers.in_words("svf", got, 0.5).startswith(says)


def test_memory_use_is_a_share(question, capacity):
    """Of M, on average over the run at the largest rate."""
    assert 0.1 < memory_use(capacity, question) <= 1
