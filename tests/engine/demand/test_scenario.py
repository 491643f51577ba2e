"""A scenario is a checked value: equal descriptions are equal, bad ones are refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.demand.scenario import MAX_REQUESTS, Scenario, read_mix
from engine.wording import THIN

shares = st.lists(st.floats(0, 1e6), min_size=4, max_size=4).filter(lambda four: sum(four) > 1e-3)


def test_defaults_are_the_default_mix():
    """80/20 short and long, a backlog of 2,000, seed 0."""
    scenario = Scenario()
    assert scenario.mix == (("short", 0.8), ("long", 0.2))
    assert (scenario.n, scenario.arrivals, scenario.seed) == (2_000, "backlog", 0)


def test_equal_descriptions_are_one_value():
    """However the numbers are spelled, the values are equal and hash alike."""
    spelled = Scenario(mix={"short": 80, "long": 20}, n=2000.0, seed=np.int64(0))
    assert spelled == Scenario()
    assert hash(spelled) == hash(Scenario())
    assert type(spelled.n) is type(spelled.seed) is int
    assert Scenario(seed=1) != Scenario()


@given(shares)
def test_shares_are_kept_summing_to_one(four):
    """Shares are weights; checking a checked mix changes nothing."""
    scenario = Scenario(
        mix=tuple(zip(["short", "long", "code", "conversation"], four, strict=True))
    )
    kept = [share for _, share in scenario.mix]
    assert sum(kept) == pytest.approx(1)
    assert kept == pytest.approx([share / sum(four) for share in four])
    assert replace(scenario, n=5).mix == scenario.mix


BAD = {
    "n": ([0, -1, 1.5, MAX_REQUESTS + 1, None, "many", True, float("nan")], "from 1 to 1,000,000"),
    "rate": ([0, -1, 20_000, float("inf"), float("nan")], "from 0.0001 to 10,000"),
    "burstiness": ([0, 11, None], "from 0.1 to 10"),
    "period": ([0, 1e10], "from 0.001 to 1,000,000,000"),
    "on_share": ([0, 1.01], "from 0.01 to 1"),
    "seed": ([-1, 0.5, 2**32], "from 0 to 4,294,967,295"),
    "horizon": ([0, -5, float("inf")], "from 0.001"),
    "concurrency": ([-1, 10.5, 10**13, "big"], "must be"),
    "arrivals": (["weekly", None, ["poisson"]], "one of backlog, poisson, gamma, on-off"),
}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [(name, value, allowed) for name, (values, allowed) in BAD.items() for value in values],
)
def test_bad_field_is_named_with_its_range(name, value, allowed):
    """One sentence: the field, what it may be, and what it was."""
    with pytest.raises(InputError) as error:
        Scenario(**{name: value})
    assert name in str(error.value)
    assert allowed in str(error.value)
    assert str(value) in str(error.value)


@pytest.mark.parametrize(
    ("mix", "said"),
    [
        ((("short", 0.5), ("huge", 0.5)), "unknown request class huge: choose from code,"),
        ((("short", 0.5), ("short", 0.5)), "short twice"),
        ((("short", -1), ("long", 2)), "the share of short must be a number from 0"),
        ((("short", "much"),), "the share of short must be a number"),
        ((("short", 0),), "at least one class"),
        ((), "at least one class"),
        ("short", "pairs of a class and a share"),
        ((("short", 0.5, 1),), "pairs of a class and a share"),
    ],
)
def test_bad_mix_is_named(mix, said):
    """Unknown, double, negative, unreadable and empty shares are refused by name."""
    with pytest.raises(InputError, match=said):
        Scenario(mix=mix)


def test_horizon_replaces_n():
    """With a horizon there is no n, so that two such scenarios differ only where they differ."""
    one = Scenario(arrivals="poisson", horizon=100)
    assert one.n is None
    assert one == Scenario(arrivals="poisson", horizon=100, n=7)


def test_horizon_of_a_backlog_is_refused():
    """Nothing arrives over time in a backlog."""
    with pytest.raises(InputError, match="backlog has no horizon"):
        Scenario(horizon=100)


def test_horizon_with_too_many_requests_is_refused():
    """A million expected requests are allowed, one more is a sentence with the figures."""
    Scenario(arrivals="poisson", horizon=1e5, rate=10)
    with pytest.raises(InputError, match=r"horizon 100001 at rate 10 would be 1,000,010 requests"):
        Scenario(arrivals="poisson", horizon=100_001, rate=10)


def test_summary_is_one_line():
    """The sidebar's sentence."""
    assert str(Scenario()).replace(THIN, ",") == ("2,000 requests, 80 % short / 20 % long, backlog")
    assert str(Scenario(n=1, mix={"code": 1}, arrivals="poisson", seed=3)).replace(THIN, ",") == (
        "1 request, 100 % code, Poisson at rate 0.08, seed 3"
    )
    assert "gamma at rate 0.08 with burstiness 3" in str(Scenario(arrivals="gamma"))
    on_off = str(Scenario(arrivals="on-off", horizon=5000))
    assert "requests up to time 5000" in on_off
    assert "on-off at rate 0.08, on for 25 % of every 2000" in on_off


def test_read_mix():
    """The command line's spelling."""
    assert read_mix("short=0.8, long=0.2") == Scenario().mix
    assert read_mix("code=3,long=1") == (("code", 0.75), ("long", 0.25))
    for text in ("", "short", "short=", "short=a", "short=.8,,long=.2"):
        with pytest.raises(InputError, match=r"mix must look like short=0\.8,long=0\.2"):
            read_mix(text)
    with pytest.raises(InputError, match="unknown request class shorts"):
        read_mix("shorts=1")
