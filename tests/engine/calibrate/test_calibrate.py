"""Calibration: a known clock is found again from what a benchmark of it would have seen."""

import io
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Scenario, Workload, find_policy, generate
from engine.calibrate import Rounds, fit, read_benchmark, see_rounds
from engine.machine.clock import StepTime, seconds_clock
from tests.services.benchmark_result import benchmark_result

M = 16_492
STEP = (0.0372, 0.0001965, 90.0, 5.67e-8, 4.2e-5)


def seen(result):
    return see_rounds(read_benchmark(io.BytesIO(json.dumps(result).encode())))


def served(step=STEP, n=150, rate=1.6, memory=M, policy="vllm", **more):
    workload = generate(Scenario(n=n, arrivals="poisson", rate=rate, seed=3, **more))
    return find_policy(policy).run(workload, memory, clock=seconds_clock(*step))


def test_rounds_are_seen_as_they_were():
    """Every round of two requests by hand: who was prefilled, who decoded, how long."""
    workload = Workload([0.0, 0.05], [100, 50], [4, 2])
    clock = seconds_clock(0.1, 0.001, 0.0, 0.0001, 0.01)
    run = find_policy("fcfs").run(workload, 1000, clock=clock)
    rounds = seen(benchmark_result(run))
    assert rounds.seen == len(rounds) == 4
    assert rounds.prefilled.tolist() == [100, 50, 0, 0]
    assert rounds.decoding.tolist() == [0, 1, 2, 1]
    assert rounds.context.tolist() == [0, 101, 102 + 51, 103]
    expected = clock.step(rounds.prefilled, rounds.decoding, rounds.context)
    assert rounds.seconds == pytest.approx(expected, rel=1e-9)


@settings(max_examples=25)
@given(
    c0=st.floats(0.005, 0.1),
    c1=st.floats(2e-5, 1e-3),
    n0=st.floats(20, 300),
    c2=st.floats(1e-8, 1e-6),
    c3=st.floats(1e-5, 5e-4),
)
def test_a_known_clock_is_found_again(c0, c1, n0, c2, c3):
    """All five coefficients, whatever they are, from exact timings."""
    step = StepTime(c0, c1, n0, c2, c3)
    found = fit(seen(benchmark_result(served(step, rate=0.06 / c0))))
    assert found.step == pytest.approx(step, rel=1e-3)
    assert found.undecided == {}
    assert found.error_percent < 1e-3


ODD = (True, 7, 5.0, "x", {}, [1], [10**400] * 9, [None] * 9, [[0.1]] * 9, [True] * 9)


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize(
    "field", ["input_lens", "ttfts", "itls", "start_times", "output_lens", "errors"]
)
def test_a_field_that_is_none(field, odd):
    """What it holds is passed over or refused with a sentence, whatever it is."""
    result = benchmark_result(served(n=9)) | {field: odd}
    with suppress(InputError):
        assert read_benchmark(io.BytesIO(json.dumps(result).encode())).left_out <= 9


def test_preempted_requests_do_not_mislead():
    """Rounds in which someone came back are left out; the rest are exact."""
    run = served(n=300, rate=6.0)
    assert run.preemptions.sum() > 20
    rounds = seen(benchmark_result(run))
    assert len(rounds) < rounds.seen
    assert fit(rounds).step == pytest.approx(STEP, rel=1e-6)


def test_jitter_of_the_network():
    """Tokens up to 3 ms late: every coefficient within three standard errors or 10 %."""
    found = fit(seen(benchmark_result(served(n=300), jitter=0.003)))
    off = np.abs(np.array(found.step) - STEP)
    assert (off <= np.maximum(3 * found.error, 0.1 * np.array(STEP))).all()
    assert 0 < found.error_percent < 5


def test_stalled_rounds_are_left_out():
    """Twenty rounds of ten times their length do not move the fit."""
    rounds = seen(benchmark_result(served()))
    seconds = rounds.seconds.copy()
    seconds[::100] *= 10
    stalled = Rounds(rounds.prefilled, rounds.decoding, rounds.context, seconds, rounds.seen)
    found = fit(stalled)
    assert found.left_out == len(seconds[::100])
    assert found.step == pytest.approx(STEP, rel=1e-6)


def random_rounds(seed, n=400, prefill=True):
    rng = np.random.default_rng(seed)
    prefilled = rng.integers(0, 2, n) * rng.integers(1, 2000, n) * prefill
    decoding = rng.integers(1, 64, n)
    context = decoding * rng.integers(100, 1000, n)
    return prefilled, decoding, context


def test_coefficients_are_never_negative():
    """Where noise would have them below 0."""
    for seed in range(5):
        prefilled, decoding, context = random_rounds(seed)
        noise = np.random.default_rng(seed + 100).normal(1, 0.3, len(decoding)).clip(0.2)
        found = fit(Rounds(prefilled, decoding, context, 0.03 * noise, len(decoding)))
        assert min(found.step) >= 0


def test_no_fit_is_better():
    """Of 500 random coefficients near the fit to noisy rounds, none has a smaller error."""
    rng = np.random.default_rng(7)
    prefilled, decoding, context = random_rounds(7)
    seconds = StepTime(*STEP)(prefilled, decoding, context) * rng.normal(1, 0.02, len(decoding))
    rounds = Rounds(prefilled, decoding, context, seconds, len(decoding))
    found = fit(rounds)
    kept = found.rounds

    def squares(step):
        off = StepTime(*step)(kept.prefilled, kept.decoding, kept.context) / kept.seconds - 1
        return (off**2).sum()

    best = squares(found.step)
    for _ in range(500):
        near = np.array(found.step) * rng.normal(1, 0.02, 5)
        assert squares(near) >= best * (1 - 1e-9)


def rounds_of(prefilled, decoding, context):
    seconds = StepTime(*STEP)(prefilled, decoding, context)
    return Rounds(prefilled, decoding, context, seconds, len(decoding))


def test_says_what_cannot_be_told():
    """No prompts: not c1 and N0. Everybody as long: not c2 from c3. One batch: hardly anything."""
    prefilled, decoding, context = random_rounds(1, prefill=False)
    assert {"c1", "N0"} <= fit(rounds_of(prefilled, decoding, context)).undecided.keys()
    prefilled, decoding, _ = random_rounds(2)
    assert {"c2", "c3"} <= fit(rounds_of(prefilled, decoding, 500 * decoding)).undecided.keys()
    same = np.full(100, 8)
    alone = fit(rounds_of(np.zeros(100, np.int64), same, 100 * same)).undecided
    assert {"c0", "c1", "N0"} <= alone.keys()


def test_noise_widens_the_errors():
    """Ten times the noise, about ten times the standard errors."""
    prefilled, decoding, context = random_rounds(3, n=2000)
    clean = StepTime(*STEP)(prefilled, decoding, context)
    draws = np.random.default_rng(3).normal(0, 1, len(clean))
    few, many = (
        fit(Rounds(prefilled, decoding, context, clean * (1 + size * draws), len(clean)))
        for size in (0.001, 0.01)
    )
    assert many.error / few.error == pytest.approx(10, rel=0.3)


def test_too_few_rounds():
    """The message says how many are needed."""
    workload = Workload([0.0], [10], [5])
    run = find_policy("fcfs").run(workload, 100, clock=seconds_clock(0.1))
    with pytest.raises(InputError, match="only 5 rounds"):
        fit(seen(benchmark_result(run)))


def damaged(**change):
    result = benchmark_result(served(n=40))
    return json.dumps({**result, **change}).encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (damaged(start_times=None), "has no start_times"),
        (damaged(itls=[]), "has no itls"),
        (damaged(ttfts=[0.1]), "lists differ in length"),
        (damaged(errors=["lost"] * 40), "no request of this benchmark"),
        (b"arrival,prompt,output\n0,1,1\n", "no benchmark result"),
    ],
)
def test_damaged_results_are_refused(content, told):
    """By what is missing."""
    with pytest.raises(InputError, match=told):
        read_benchmark(io.BytesIO(content))


def test_sglang_results_say_when_requests_were_sent_or_are_refused():
    """No option of its benchmark writes it; a version that does is read."""
    result = benchmark_result(served(n=40)) | {"total_output_tokens_retokenized": 9}
    sent = result.pop("start_times")
    with pytest.raises(InputError, match="SGLang's benchmark does not say when requests were sent"):
        read_benchmark(io.BytesIO(json.dumps(result).encode()))
    bench = read_benchmark(io.BytesIO(json.dumps({**result, "arrival_times": sent}).encode()))
    assert bench.sent.tolist() == sent


def test_requests_that_failed_are_left_out_and_counted():
    """An error, a time that is none, a gap below 0."""
    result = benchmark_result(served(n=40))
    result["errors"][0] = "timeout"
    result["ttfts"][1] = None
    result["itls"][2] = [0.1, -0.5]
    bench = read_benchmark(io.BytesIO(json.dumps(result).encode()))
    assert bench.left_out == 3
    assert len(bench.prompt) == 37
