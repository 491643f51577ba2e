"""Where a policy stops keeping up."""

import numpy as np
import pytest

from engine import InputError, Scenario, find_policy, generate
from engine.clock import seconds_clock
from engine.headroom import bisect_factor, in_words, largest_rate, smallest_memory
from engine.overload import verdict
from engine.progress import silent

CLOCK = seconds_clock(0.0372, 1.965e-4, 90, 5.67e-8, 4.2e-5)


def served_by(key):
    return lambda workload, memory: find_policy(key).run(workload, memory, clock=CLOCK)


@pytest.fixture(scope="module")
def mix():
    return generate(Scenario(n=2000, arrivals="poisson", rate=1.6))


@pytest.mark.parametrize("border", [0.02, 0.4, 1.0, 3.3, 60])
def testbisect_factorion_encloses_the_border(border):
    """To within 1 % of any border in reach."""
    found = bisect_factor(lambda factor: factor <= border, silent)
    assert found.carries <= border < found.fails
    assert found.fails / found.carries < 1.01


def testbisect_factorion_says_when_there_is_no_border():
    """Nothing carries, or everything does."""
    assert bisect_factor(lambda factor: False, silent).carries == 0
    assert bisect_factor(lambda factor: True, silent).fails == np.inf


def test_rate_is_where_the_verdict_turns(mix):
    """At the rate carried the run is not overloaded, at the one that fails it is."""
    border = largest_rate(served_by("svf"), mix, 16_492)
    assert 1.6 < border.carries < border.fails < 10
    rate = (len(mix) - 1) / np.ptp(mix.arrival)
    for at, overloaded in ((border.carries, False), (border.fails, True)):
        faster = mix.__class__(mix.arrival * rate / at, mix.prompt, mix.output)
        run = served_by("svf")(faster, 16_492)
        assert (verdict(run).kind == "overloaded") == overloaded


def test_better_policy_carries_more(mix):
    """vllm preempts and recomputes; svf needs less of the machine."""
    svf, vllm = (largest_rate(served_by(key), mix, 16_492) for key in ("svf", "vllm"))
    assert svf.carries > vllm.fails


def test_least_memory_still_carries(mix):
    """And it is below what there is."""
    border = smallest_memory(served_by("svf"), mix, 16_492)
    assert border.fails < border.carries < 16_492
    run = find_policy("svf").run(mix, int(np.ceil(border.carries)), clock=CLOCK)
    assert verdict(run).kind != "overloaded"


def test_backlog_has_no_rate():
    """The message says what to choose."""
    with pytest.raises(InputError, match="arrivals over time"):
        largest_rate(served_by("svf"), generate(Scenario(n=200)), 16_492)


def test_words_say_both(mix):
    """Rate and memory."""
    simulate = served_by("svf")
    rate, memory = (find(simulate, mix, 16_492) for find in (largest_rate, smallest_memory))
    told = in_words("svf", rate, memory, "seconds")
    assert "requests a second" in told
    assert "of KV cache" in told
