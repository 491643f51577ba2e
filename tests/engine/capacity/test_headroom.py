"""Where a policy stops keeping up."""

import numpy as np
import pytest

from engine import Choice, Deployment, InputError, Scenario, generate
from engine.capacity.border import bisect_factor
from engine.capacity.draws import STEADY, Draws
from engine.capacity.headroom import headroom_in_words, smallest_memory
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.machine.clock import seconds_clock
from engine.measure.overload import verdict
from engine.progress import silent

CLOCK = seconds_clock(0.0372, 1.965e-4, 90, 5.67e-8, 4.2e-5)
MIX = Draws(Scenario(n=2000, arrivals="poisson", rate=1.6), 1)


QUESTION = Question(MIX, Deployment(16_492, CLOCK))
SVF = Choice("svf")


def rate_of(key):
    return largest_rate(Choice(key), QUESTION)


@pytest.mark.parametrize("border", [0.02, 0.4, 1.0, 3.3, 60])
def test_bisection_encloses_the_border(border):
    """To within 1 % of any border in reach."""
    found = bisect_factor(lambda factor: factor <= border, silent)
    assert found.carries <= border < found.fails
    assert found.fails / found.carries < 1.01


def test_bisection_says_when_there_is_no_border():
    """Nothing carries, or everything does."""
    assert bisect_factor(lambda factor: False, silent).carries == 0
    assert bisect_factor(lambda factor: True, silent).fails == np.inf


def test_rate_is_where_the_verdict_turns():
    """Of 100,000 requests at a tenth less and a tenth more than the rate."""
    (border,) = rate_of("svf").borders
    assert 1.6 < border.carries < border.fails < 10
    for times, overloaded in ((0.9, False), (1.1, True)):
        run = QUESTION.run(SVF, MIX.at(times * border.carries, 5, 100_000))
        assert (verdict(run).kind == "overloaded") == overloaded


def test_better_policy_carries_more():
    """vllm preempts and recomputes; svf needs less of the machine."""
    (svf,), (vllm,) = (rate_of(key).borders for key in ("svf", "vllm"))
    assert svf.carries > vllm.fails


def test_least_memory_still_carries():
    """And it is below what there is; with a tenth less, 100,000 requests overload it."""
    border = smallest_memory(SVF, QUESTION)
    assert border.fails < border.carries < 16_492
    drawn = MIX.at(1.6, 0, STEADY)
    many = Draws(drawn, 1).at(1.6, 0, 10 * STEADY)
    for tokens, overloaded in ((border.carries, False), (int(0.9 * border.carries), True)):
        run = Deployment(tokens, CLOCK).run(SVF, many)
        assert (verdict(run).kind == "overloaded") == overloaded


def test_backlog_has_no_rate():
    """The message says what to choose."""
    with pytest.raises(InputError, match="choose arrivals over time"):
        Draws(generate(Scenario(n=200)))


def test_words_say_both():
    """Rate and memory."""
    capacity = rate_of("svf")
    told = headroom_in_words(capacity, smallest_memory(SVF, QUESTION), "seconds")
    assert f"up to {capacity.rate:.2f} of these requests a second" in told
    assert "of KV cache" in told
