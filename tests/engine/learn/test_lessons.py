"""Lessons say nothing that the engine does not show."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from engine import POLICIES
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import load_lessons, total
from engine.learn.lessons import (
    adversary,
    chunked_prefill,
    fat_short,
    head_of_line,
    kv_grows,
    prices,
    thrash,
    unbounded,
    volume_first,
    wait_thresholds,
    why_f,
)
from engine.memory_curve import memory_curve
from tests.twins import twin

LESSONS = load_lessons()
MOST_ROUNDS, MOST_REQUESTS = 100, 60
EVERY = [(key, value) for key, lesson in LESSONS.items() for value in lesson.parameter.values]


def all_said(steps):
    """Every word of a lesson."""
    words = []
    for step in steps:
        words += [step.title, step.text, step.about]
        if step.question:
            words += [step.question.text, *step.question.options, step.question.why]
    return " ".join(words).replace("\u202f", " ")


@pytest.mark.parametrize(("key", "value"), EVERY)
def test_every_lesson_at_every_value(key, value):
    """Its steps are complete, short, and can be drawn."""
    steps = LESSONS[key].steps(value)
    assert 2 <= len(steps) <= 5
    assert len(steps) == len(LESSONS[key].steps(LESSONS[key].parameter.default))
    assert steps[-1].runs or steps[-1].curves or steps[-1].table is not None
    for step in steps:
        assert step.title
        assert 60 < len(step.text) < 480
        for run in step.runs.values():  # small enough to be watched, and to be sent to a browser
            assert run.finish.max() <= MOST_ROUNDS
            assert len(run.workload) <= MOST_REQUESTS
        if step.question:
            options = step.question.options
            assert len(set(options)) == len(options) >= 2
            assert 0 <= step.question.right < len(options)
    assert not re.search(r"\bnan\b|\binf\b|None|[{}]", all_said(steps))


@pytest.mark.parametrize(("key", "value"), EVERY)
def test_every_run_is_the_engine_s(key, value):
    """What is played is a run that the model allows; look-ahead ones equal the plain twin."""
    for step in LESSONS[key].steps(value):
        for label, run in step.runs.items():
            assert memory_curve(run).peak <= run.memory, label
            assert (run.start >= run.workload.arrival).all()
            if run.order is not None and run.policy:
                starts = twin.look_ahead_starts(
                    run.workload, run.memory, run.order.tolist(), run.skip
                )
                assert run.start.tolist() == starts


def test_places_are_a_course():
    """Twelve lessons, one after the other, each with a question somewhere."""
    assert [lesson.place for lesson in LESSONS.values()] == list(range(1, 13))
    for lesson in LESSONS.values():
        assert lesson.parameter.default in lesson.parameter.values
        assert list(lesson.parameter.values) == sorted(set(lesson.parameter.values))
        assert any(step.question for step in lesson.steps(lesson.parameter.default))


def test_kv_grows():
    """4 + 6 tokens hold 5 .. 10, 45 in all; 4 + 18 never fit in 20."""
    told = all_said(kv_grows.steps(6))
    assert "holds 5" in told
    assert f"= {sum(range(5, 11))} token-rounds" in told
    assert f"{sum(range(5, 11))} to {sum(range(5, 17))} token-rounds" in told
    assert "set aside" in all_said(kv_grows.steps(18))
    assert kv_grows.steps(18)[-1].runs["Three requests"].set_aside.tolist() == [0]


def test_head_of_line():
    """The twin's totals; without passing, no small one starts before the second large one."""
    workload = written_out(head_of_line.LARGE, head_of_line.SMALL)

    def total_of(order, skip):
        starts = twin.look_ahead_starts(workload, head_of_line.M, order, skip)
        return sum(starts) + int(workload.output.sum()), starts

    strict, starts = total_of(range(8), 0)
    assert min(starts[2:]) == starts[1] == 8
    for skip in (1, 2):
        assert f"from {strict} rounds to {total_of(range(8), skip)[0]} rounds" in all_said(
            head_of_line.steps(skip)
        )


@pytest.mark.parametrize("prompt", LESSONS["fat-short"].parameter.values)
def test_fat_short(prompt):
    """Both totals by the twin; the trap is there at 23 and not at 1."""
    runs = fat_short.steps(prompt)[-1].runs
    workload = runs["svf"].workload
    totals = []
    for key in ("mc-sf", "svf"):
        starts = twin.look_ahead_starts(workload, fat_short.M, runs[key].order.tolist())
        totals.append(sum(starts) + int(workload.output.sum()))
        assert totals[-1] == total(runs[key])
    assert totals[0] > totals[1] or prompt < 10
    assert totals[0] <= totals[1] or prompt > 5


@pytest.mark.parametrize("slow", LESSONS["why-f"].parameter.values)
def test_why_f(slow):
    """The first batch of phase 1 is one of least F among all that fit, by trying all."""
    question = why_f.steps(slow)[0].question
    workload = why_f.steps(slow)[1].runs["sorted-f"].workload
    output, peak = workload.output.tolist(), workload.peak.tolist()
    best = min(
        (Fraction(sum(output[i] for i in which), size**2), -size)
        for size in range(1, len(workload) + 1)
        for which in combinations(range(len(workload)), size)
        if sum(peak[i] for i in which) <= why_f.M
    )
    chosen = question.options[question.right]
    assert chosen.startswith(f"{-best[1]} request")
    assert chosen.endswith(f"F = {float(best[0]):.2f}")


def test_volume_first():
    """The guarantee is 3 for small requests; what is measured keeps it, by far."""
    assert volume_first.guarantee(0) == 3
    for share in volume_first.SHARES:
        workload = volume_first.mix(share)
        assert workload.peak.max() * 100 == share * volume_first.WHOLE
        assert 1 <= volume_first.measured("svf", share) <= volume_first.guarantee(share / 100)


def test_unbounded():
    """The known ratios at both ends, and no loss for volume first."""
    assert unbounded.ratio_of("mc-sf", 100) == pytest.approx(2.71, abs=0.006)
    assert unbounded.ratio_of("mc-sf", 2500) == pytest.approx(11.67, abs=0.006)
    assert unbounded.ratio_of("svf", 2500) == pytest.approx(1, abs=0.01)


def test_thrash():
    """The count is the run's; the best watermark is neither end; the two clocks disagree."""
    steps = thrash.steps(0)
    run = steps[0].runs["vllm, no watermark"]
    assert f"{int(run.preemptions.sum())} times" in steps[0].question.why
    means = steps[-1].curves.lines["vllm"][1]
    assert min(means) < means[0]
    assert min(means) < means[-1]
    rounds, seconds = (steps[1].table[name].astype(float) for name in list(steps[1].table)[1:])
    assert rounds[0] < rounds[1]
    assert seconds[0] > seconds[1]


def test_chunked_prefill():
    """Larger chunks never shorten a pause and never delay the first token."""
    runs = [chunked_prefill.served(size) for size in chunked_prefill.CHUNKS]
    pauses = [chunked_prefill.pause(run) for run in runs]
    firsts = [chunked_prefill.first_token(run) for run in runs]
    assert pauses == sorted(pauses)
    assert firsts == sorted(firsts, reverse=True)
    prefill = chunked_prefill.DOCUMENT.prompt
    clock = runs[-1].clock.step
    context = 4 * 100 + 4 * 21  # the chats have made some 21 tokens by then
    assert pauses[-1] == pytest.approx(clock(prefill, 4, context), rel=0.01)


def test_wait_thresholds():
    """Only the threshold that equals the arrivals keeps up; the greedy policy does not."""
    workload = wait_thresholds.steps(4)[0].runs["fcfs"].workload
    greedy = wait_thresholds.pace(POLICIES["fcfs"].run(workload, wait_thresholds.M))
    paces = {
        threshold: wait_thresholds.pace(
            POLICIES["wait"].run(workload, wait_thresholds.M, threshold=threshold)
        )
        for threshold in LESSONS["wait-thresholds"].parameter.values
    }
    assert paces[4] == wait_thresholds.RATE
    assert greedy == 3.5
    assert all(pace < 4 for threshold, pace in paces.items() if threshold != 4)


def stages(threshold, rounds=60, capacity=12, arrivals=4):
    """Completions a round where prompts hold 1 (prefill) and 2 (decode), as in arXiv 2504.11320.

    Begins with 6 and 3 in the stages; the newest restart where memory runs out.
    """
    prefill, decode, queue, done = 6, 3, 0, []
    for _ in range(rounds):
        done.append(decode)
        queue += arrivals
        decode, prefill = min(prefill, capacity // 2), 0
        room = capacity - 2 * decode
        prefill = min(queue, room if threshold is None else min(room, threshold))
        queue -= prefill
    return np.mean(done[10:])


def test_wait_by_stages():
    """The paper's example: 3 to 3.5 completions a round, where 4 are possible and WAIT has 4."""
    assert 3 <= stages(None) <= 3.5
    assert stages(4) == 4


def test_adversary():
    """The worst release is near the end; the policy's rival schedule is a real one."""
    steps = adversary.steps(15)
    x, y = steps[1].curves.lines["svf"]
    assert steps[1].question.right == 2
    assert x[int(np.argmax(y))] > adversary.M // 2
    assert min(y) >= 1
    for run in steps[1].runs.values():
        assert memory_curve(run).peak <= adversary.M


def test_prices():
    """33 by preempting, 36 at best without, 35.744 by the LP, 30.51 for all (docs/model.md 3.3)."""
    told = all_said(prices.steps(100))
    for known in ("36 rounds", "that 36 is", "33 rounds", "35.7", "30.5"):
        assert known in told
    values = dict(zip(*prices.steps(100)[2].curves.lines["bound"], strict=True))
    assert values[100] == pytest.approx(35.744)
    assert values[0] == 18  # the sum of outputs
    assert max(values.values()) == values[100]


@pytest.mark.parametrize("scale", prices.SCALES)
def test_prices_by_hand(scale):
    """Every start of every request is tried in fractions: the certificate says no more."""
    workload = written_out(ExampleRequests(2, 3, count=6))
    from engine.bound_method import find_method

    bound = find_method("lp").bounds(workload, prices.M)[0]
    lam = [Fraction(float(p)) * scale / 100 for p in bound.prices[0].by_round]

    def price(t):
        return lam[t] if t < len(lam) else Fraction(0)

    least = min(k + 3 + sum((2 + j) * price(k + j) for j in (1, 2, 3)) for k in range(len(lam) + 1))
    value = 6 * least - prices.M * sum(lam[1:])
    assert prices.dual_at(workload, bound, scale).value == pytest.approx(float(value), abs=1e-6)
