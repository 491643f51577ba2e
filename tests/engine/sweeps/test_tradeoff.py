"""One parameter, several runs."""

import pytest

from engine import Choice, Deployment, Experiment, Scenario, find_policy
from engine.errors import Livelock
from engine.figures.tradeoff import describe_tradeoff, draw_tradeoff
from engine.machine.clock import seconds_clock
from engine.sweeps.tradeoff import in_words, try_values, values_of

CLOCK = seconds_clock(0.0372, 1.965e-4, 90, 5.67e-8, 4.2e-5)
SARATHI = Choice("sarathi")
CHUNK = SARATHI.policy.params[0]


@pytest.fixture(scope="module")
def outcomes():
    scenario = Scenario(n=400, arrivals="poisson", rate=1.6)
    return try_values(Experiment(scenario, Deployment(16_492, CLOCK)), SARATHI, CHUNK)


def test_every_parameter_has_values_in_its_range():
    """Ascending, with the present one, of the right kind."""
    for policy in (find_policy(key) for key in ("vllm", "sarathi", "svf", "alpha-beta", "wait")):
        for param in policy.params:
            values = values_of(param, param.default)
            assert values == sorted(set(values))
            assert param.default in values
            assert all(param.read(value, policy.key) == value for value in values)


def test_small_chunks_protect_the_other_tokens(outcomes):
    """The time per output token grows with the chunk: that is what chunks are for."""
    assert [outcome.value for outcome in outcomes] == [128, 256, 512, 1024, 2048, 4096]
    assert outcomes[0].tpot < outcomes[-1].tpot


def test_words_and_chart_agree(outcomes):
    """The best values are named, and every dot is drawn."""
    best = min(outcomes, key=lambda outcome: outcome.tpot)
    assert f"chunk_size = {best.value:g}." in in_words(CHUNK, outcomes, "seconds")
    (line,) = draw_tradeoff(outcomes, "sarathi", "chunk_size", "seconds").data
    assert len(line.x) == len(outcomes)
    assert "4096" in describe_tradeoff(outcomes, "chunk_size", "seconds")


def test_values_at_which_it_never_ends_are_left_out(monkeypatch):
    """A livelock at one value does not spoil the others."""
    run = Deployment.run

    def stuck_at_512(deployment, choice, *rest):
        if choice.values["chunk_size"] == 512:
            raise Livelock("sarathi", 1, 2, "raise it")
        return run(deployment, choice, *rest)

    monkeypatch.setattr(Deployment, "run", stuck_at_512)
    outcomes = try_values(Experiment(Scenario(n=20), Deployment(16_492)), SARATHI, CHUNK)
    assert outcomes
    assert 512 not in [outcome.value for outcome in outcomes]
