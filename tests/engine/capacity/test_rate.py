"""The largest rate is where the answer turns, and overload has none; servers and money follow."""

import numpy as np
import pytest

from engine import (
    ROUNDS,
    Choice,
    Deployment,
    InputError,
    Scenario,
    Topology,
    Workload,
    find_policy,
    generate,
)
from engine.capacity.answer import answer
from engine.capacity.border import Border
from engine.capacity.draws import Draws
from engine.capacity.objective import Objective, check_it_has_a_rate
from engine.capacity.offer import Offer, best_first
from engine.capacity.question import Question
from engine.capacity.rate import Capacity, largest_rate
from engine.capacity.servers import fewest_servers
from engine.machine.hardware import presets
from engine.measure.overload import verdict
from engine.measure.slo import Slo

LARGE = presets()["llama-2-70b-a100-tp4"].clock
SMALL = presets()["llama-3-8b-a100"].clock
MIX = {"short": 0.8, "long": 0.2}
CASES = {  # policy, clock, rate, M, mix, burstiness, limits
    "svf": (LARGE, 1.6, 16_492, MIX, 1.0, Slo(ttft=10)),
    "vllm": (LARGE, 1.6, 16_492, MIX, 1.0, Slo(ttft=10)),
    "fcfs": (ROUNDS, 0.08, 16_492, MIX, 1.0, Slo()),
    "mc-sf": (ROUNDS, 0.08, 16_492, MIX, 1.0, Slo(ttft=300)),
    "sarathi": (LARGE, 1.6, 16_492, MIX, 1.0, Slo(tpot=0.3)),
    "past-future": (LARGE, 1.6, 16_492, MIX, 1.0, Slo(latency=120)),
    "shortest-total": (LARGE, 1.6, 30_000, MIX, 2.0, Slo(ttft=5)),
    "vllm-priority": (ROUNDS, 0.05, 9_000, {"short": 1.0}, 1.0, Slo(latency=900)),
    "shortest-prompt": (SMALL, 8.0, 60_000, {"conversation": 1.0}, 1.0, Slo(ttft=3)),
    "orca": (SMALL, 4.0, 40_000, {"conversation": 0.5, "code": 0.5}, 1.0, Slo(ttft=1, latency=60)),
}


def draws_of(clock, rate, memory, mix, burstiness, slo, seeds=4, n=500):
    kind = "poisson" if burstiness == 1 else "gamma"
    scenario = Scenario(mix=mix, n=n, arrivals=kind, rate=rate, burstiness=burstiness)
    return Draws(scenario, seeds)


@pytest.fixture(scope="module")
def usual():
    return Draws(Scenario(n=1000, arrivals="poisson", rate=1.6), 3)


def ask(draws, objective=Objective(), memory=16_492, clock=LARGE, **topology):  # noqa: B008
    return Question(draws, Deployment(memory, clock, Topology(**topology)), objective)


def carried(key, *asked):
    return largest_rate(Choice(key), ask(*asked))


@pytest.fixture
def short_proof(monkeypatch):
    """Runs that show whether a load is carried for good have 1,500 requests, to be quick."""
    monkeypatch.setattr("engine.capacity.rate.STEADY", 1500)


@pytest.mark.parametrize("key", ["svf", "vllm", "fcfs", "shortest-total"])
def test_what_is_carried_is_carried_by_other_requests(key):
    """A draw that had no part in the answer, of 20,000: kept at the rate, and not at 1.4 of it."""
    clock, _, memory, *_, slo = CASES[key]
    draws, objective = draws_of(*CASES[key], seeds=2), Objective(slo)
    found = carried(key, draws, objective, memory, clock)
    runs = {
        times: find_policy(key).run(draws.at(times * found.rate, 77, 20_000), memory, clock=clock)
        for times in (1, 1.4)
    }
    assert verdict(runs[1]).kind != "overloaded"
    assert objective.excess(runs[1]) < 1.5  # 1, but for chance in the 99th percentile
    assert not objective.met_by(runs[1.4])
    low, high = found.interval
    assert low <= found.rate <= high


@pytest.mark.parametrize("key", ["svf", "mc-sf"])
@pytest.mark.usefixtures("short_proof")
def test_each_seed_turns_there(key):
    """At the rate carried the limits are kept, at the one that fails they are not, 1 % apart."""
    clock, _, memory, *_, slo = CASES[key]
    draws, objective = draws_of(*CASES[key], seeds=2), Objective(slo)
    found = carried(key, draws, objective, memory, clock)

    def kept(rate, seed):
        runs = [draws.at(rate, seed), draws.at(rate, seed, 1500)]
        return all(objective.kept_by(find_policy(key).run(d, memory, clock=clock)) for d in runs)

    for seed, border in zip(found.seeds, found.borders, strict=True):
        assert 1 < border.fails / border.carries < 1.01
        assert kept(border.carries, seed)
        assert not kept(border.fails, seed)
    assert found.binding.kind == next(iter(slo.limits))


def test_a_short_run_does_not_pass_for_a_steady_one():
    """500 requests alone look as if 2.7 a second were carried; the law shows that they are not."""
    found = carried("svf", Draws(Scenario(n=500, arrivals="poisson", rate=1.6), 3))
    longer = carried("svf", Draws(Scenario(n=10_000, arrivals="poisson", rate=1.6), 3))
    assert found.rate == pytest.approx(longer.rate, rel=0.1)


def test_same_question_same_answer(usual):
    """Nothing is left to chance; other seeds answer otherwise."""
    again = Draws(Scenario(n=1000, arrivals="poisson", rate=1.6), 3)
    other = Draws(Scenario(n=1000, arrivals="poisson", rate=1.6, seed=7), 3)
    assert carried("svf", usual) == carried("svf", again)
    assert carried("svf", usual).borders != carried("svf", other).borders


def test_where_it_starts_does_not_matter(usual):
    """Bisection from a fifth of the rate or from five times as much ends within 1 %."""
    for factor in (0.2, 5.0):
        moved = Draws(Scenario(n=1000, arrivals="poisson", rate=1.6 * factor), 3)
        assert carried("svf", moved).rate == pytest.approx(carried("svf", usual).rate, rel=0.02)


@pytest.mark.parametrize("key", ["fcfs", "svf", "vllm", "sarathi", "past-future"])
@pytest.mark.parametrize("rate", [4.0, 16.0, 80.0])
def test_at_overload_the_present_rate_is_not_given(key, rate):
    """However overloaded the present is, a rate is given only where no long run is overloaded."""
    draws = Draws(Scenario(n=400, arrivals="poisson", rate=rate), 2)
    found = carried(key, draws)
    assert found.rate < rate
    for seed, border in zip(found.seeds, found.borders, strict=True):
        policy = find_policy(key)
        assert verdict(policy.run(draws.at(rate, seed), 16_492, clock=LARGE)).kind == "overloaded"
        longer = policy.run(draws.at(border.carries, seed, 10_000), 16_492, clock=LARGE)
        assert verdict(longer).kind != "overloaded"


def test_out_of_reach_is_none():
    """Limits nobody can keep: no rate, and words that say so instead of a number."""
    draws = Draws(Scenario(n=400, arrivals="poisson", rate=1.6), 2)
    objective = Objective(Slo(ttft=1e-3))
    found = carried("svf", draws, objective)
    assert (found.rate, found.interval) == (None, None)
    assert not found.is_least
    told = answer([Offer(found)], 5.0, "seconds", "one server", objective)
    assert "no rate to give" in told
    assert fewest_servers(found, ask(draws, objective), 5.0).count is None


def test_however_far_the_present_is_the_rate_is_found():
    """At a load a thousand times too large the answer is the same."""
    heavy = Draws(Scenario(n=400, arrivals="poisson", rate=4000.0), 2)
    light = Draws(Scenario(n=400, arrivals="poisson", rate=1.6), 2)
    assert carried("svf", heavy).rate == carried("svf", light).rate


def test_everything_carried_is_at_least():
    """Requests that never meet in memory are carried at any rate that is tried."""
    draws = Draws(Workload(np.arange(200.0), np.ones(200), np.ones(200)), 1)
    found = largest_rate(Choice("fcfs"), ask(draws, memory=10**6, clock=ROUNDS))
    assert found.is_least
    assert found.interval is None
    assert "at least" in answer([Offer(found)], 1.0, "rounds", "one server")


def test_limits_only_lower_the_rate(usual):
    """Tighter limits carry less, and a limit on one class no more than on none."""
    rates = [carried("svf", usual, Objective(Slo(ttft=limit))).rate for limit in (5, 20, 80)]
    assert rates == sorted(rates)
    free = carried("svf", usual).rate
    assert rates[-1] <= free
    by_class = Objective(by_class=(("long", Slo(ttft=5)),))
    assert carried("svf", usual, by_class).rate < free


def test_objective_by_hand():
    """Percentiles against limits, for all and for one class, with o = 1 free of TPOT."""
    workload = Workload([0, 0, 0, 0], [1] * 4, [1, 1, 1, 4], [0, 0, 0, 1], ("a", "b"))
    run = find_policy("fcfs").run(workload, 100)
    assert Objective(Slo(latency=2), percent=50).excess(run) == 0.5
    assert Objective(Slo(latency=2), percent=100).excess(run) == 2
    assert Objective(by_class=(("b", Slo(tpot=4)),)).excess(run) == 0.25
    assert Objective(by_class=(("a", Slo(tpot=0)),)).excess(run) == 0
    assert Objective(Slo(ttft=0)).excess(run) == np.inf
    both = Objective(Slo(latency=3), (("a", Slo(latency=0.5)),))
    assert both.within(run).tolist() == [False, False, False, False]
    assert Objective(Slo(latency=3)).within(run).tolist() == [True, True, True, False]
    with pytest.raises(InputError, match="class c, but there are only: a, b"):
        Objective(by_class=(("c", Slo(ttft=1)),)).excess(run)


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        (generate(Scenario(n=300)), "backlog has no rate"),
        (generate(Scenario(n=30, arrivals="poisson")), "too few"),
        (Workload(np.arange(200.0), [1] * 200, [1] * 200, concurrency=4), "closed loop"),
    ],
)
def test_what_has_no_rate(workload, says):
    """The message says what to choose."""
    with pytest.raises(InputError, match=says):
        check_it_has_a_rate(workload)
    with pytest.raises(InputError, match=says):
        Draws(workload)


def test_draws_of_given_requests():
    """Stretched to the rate, played again where more are needed, evenly joined."""
    given = generate(Scenario(n=150, arrivals="poisson", rate=0.5))
    draws = Draws(given, 4)
    assert draws.seeds == (0,)
    faster = draws.at(2 * draws.rate, 0)
    assert np.allclose(faster.arrival * 2, given.arrival - given.arrival.min())
    twice = draws.at(draws.rate, 0, 151)
    assert len(twice) == 300
    assert (twice.prompt[150:] == given.prompt).all()
    assert (np.diff(twice.arrival) >= 0).all()
    assert len(set(twice.row.tolist())) == 300
    assert 299 / np.ptp(twice.arrival) == pytest.approx(draws.rate, rel=0.01)


def test_interval_is_that_of_the_mean():
    """By hand: t of 2 degrees is 4.303, and what bisection leaves open is added above."""
    borders = tuple(Border(rate, rate + 0.3) for rate in (9.0, 10.0, 11.0))
    found = Capacity(Choice("svf"), (0, 1, 2), borders)
    assert found.rate == 10
    assert found.interval == pytest.approx((10 - 4.3027 / 3**0.5, 10.3 + 4.3027 / 3**0.5), 1e-4)
    assert Capacity(Choice("svf"), (0,), borders[:1]).interval is None


@pytest.mark.parametrize("key", ["svf", "vllm"])
def test_fewest_servers_are_the_fewest(usual, key):
    """They carry the load in every seed, one fewer does not: by direct simulation."""
    objective = Objective(Slo(ttft=10))
    capacity = carried(key, usual, objective)
    question = ask(usual, objective)
    found = fewest_servers(capacity, question, 5.0)

    def met(count):
        fleet = Deployment(16_492, LARGE, Topology(count))
        runs = [fleet.run(Choice(key), usual.at(5.0, seed, 1000 * count)) for seed in usual.seeds]
        longer = fleet.run(Choice(key), usual.at(5.0, usual.seeds[0], 10_000 * count))
        kept = verdict(longer).kind != "overloaded"
        return kept and all(objective.met_by(run) for run in runs)

    assert met(found.count)
    assert not met(found.count - 1)
    assert found == fewest_servers(capacity, question, 5.0)
    assert found.count * capacity.rate > 5.0 / 1.3


@pytest.mark.parametrize("pools", [(1, 1), (2, 1)])
def test_fewest_servers_in_pools(pools):
    """They carry the load in every seed and no split of one fewer does: by direct simulation."""
    few = Draws(Scenario(n=500, arrivals="poisson", rate=1.6), 2)
    question = ask(few, pools=pools, transfer=1e-5)
    capacity = largest_rate(Choice("svf"), question)
    found = fewest_servers(capacity, question, 6.0)
    assert sum(found.pools) == found.count > 2

    def met(split):
        fleet = Deployment(16_492, LARGE, Topology(pools=split, transfer=1e-5))
        draws = [few.at(6.0, seed, 500 * sum(split)) for seed in few.seeds]
        draws.append(few.at(6.0, few.seeds[0], 10_000 * sum(split)))
        runs = (fleet.run(Choice("svf"), draw) for draw in draws)
        return all(verdict(run).kind != "overloaded" for run in runs)

    assert met(found.pools)
    fewer = [(first, found.count - 1 - first) for first in range(1, found.count - 1)]
    assert not any(met(split) for split in fewer)
    offers = [Offer(capacity, found)]
    told = answer(offers, 6.0, "seconds", "pools")
    assert f"({found.pools[0]} that prefill, {found.pools[1]} that decode)" in told


def test_better_policy_needs_no_more_servers(usual):
    """svf against vllm, and the sentence says both."""
    objective = Objective(Slo(ttft=10))
    offers = []
    for key in ("vllm", "svf"):
        capacity = carried(key, usual, objective)
        offers.append(Offer(capacity, fewest_servers(capacity, ask(usual, objective), 12.0)))
    vllm, svf = offers
    assert svf.count < vllm.count
    told = answer(offers, 12.0, "seconds", "one server")
    assert told.startswith("**svf** serves ")
    assert "**vllm**" in told
    assert "instead of" in told
    assert [offer.capacity.choice.key for offer in best_first(offers)] == ["svf", "vllm"]
