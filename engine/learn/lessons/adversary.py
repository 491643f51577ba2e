"""No deterministic online policy can always win: the learner plays the adversary."""

from __future__ import annotations

import numpy as np

from engine import wording
from engine.learn.families import long_then_shorts, small_first, worst_release
from engine.learn.lesson import (
    Curves,
    LessonControl,
    LessonQuestion,
    LessonStep,
    lesson,
    run,
    said,
    total,
)

M = 36
KEYS = ("svf", "mc-sf", "fcfs")
SCALES = (100, 400, 900, 1600, 2500)


@lesson(
    key="adversary",
    title="You play the adversary",
    place=11,
    asks="Is there a policy that is good on every stream of arrivals?",
    parameter=LessonControl(
        "Round in which your short requests arrive",
        tuple(range(0, M, 3)),
        15,
        "You know the policy and it does not know you. Hurt it as much as you can.",
    ),
)
def steps(release: int) -> list[LessonStep]:
    return [_the_bait(), _your_move(release), _at_any_scale()]


def ratio_of(key: str, memory: int, release: int) -> float:
    """Total latency of the policy over that of a schedule which holds the long one back.

    That schedule need not be the best one, so the optimum is at least so far below.
    """
    workload = long_then_shorts(memory, release)
    best = min(total(run(other, workload, memory)) for other in KEYS)
    return total(run(key, workload, memory)) / min(best, total(small_first(workload, memory)))


def _the_bait() -> LessonStep:
    workload = long_then_shorts(M, M)
    alone = run("svf", workload.take(np.array([0])), M)
    return LessonStep(
        "The bait",
        f"At round 0 there is one request, 1 + {M - 1} tokens, and nothing else. M = {M}: alone it "
        "fits, and at its end it holds everything. A policy that starts it is committed; one that "
        "does not may wait for nothing.",
        question=LessonQuestion(
            "What do svf, mc-sf and fcfs do at round 0?",
            ("start it", "hold it back"),
            0 if alone.start[0] == 0 else 1,
            "They start it: nothing else is there, and none of them keeps the memory idle for "
            "somebody who may come. The same input always gives the same answer, so you know it.",
        ),
        runs={"svf": alone},
    )


def _your_move(release: int) -> LessonStep:
    workload = long_then_shorts(M, release)
    online, best = run("svf", workload, M), small_first(workload, M)
    releases = list(range(M))
    curve = [ratio_of("svf", M, at) for at in releases]
    worst = max(releases, key=curve.__getitem__)
    return LessonStep(
        "Your move",
        f"You send {M // 2} requests (1 + 1) at round {release}. svf needs {said(online)}; whoever "
        f"had held the long one back until they came would have needed {said(best)}. So "
        f"svf needs {curve[release]:.2f} times the better of the two. Turn the knob.",
        question=LessonQuestion(
            "When does it hurt the most?",
            ("at round 0, all at once", "halfway", "near the end, when memory is nearly full"),
            0 if worst == 0 else 1 if worst < 2 * M // 3 else 2,
            f"At round {worst}: {wording.ratio(curve[worst])}. The long one has nearly filled the "
            "memory and stays some rounds more, and every short one waits for all of them. "
            "Later, too few rounds are left.",
        ),
        runs={"svf": online, "long one held back": best},
        curves=Curves(
            "round in which the short ones arrive",
            "total latency against the better schedule (times)",
            {"svf": (releases, curve)},
            mark=release,
        ),
    )


def _at_any_scale() -> LessonStep:
    curves = {
        key: (list(SCALES), [ratio_of(key, m, worst_release(m)) for m in SCALES]) for key in KEYS
    }
    last = wording.ratio(curves["svf"][1][-1])
    return LessonStep(
        "At any scale",
        f"With M the trick gets better: {last} at M = {wording.count(SCALES[-1])}, growing like "
        "√M. It works against every deterministic policy, because you know when it will start the "
        "bait (arXiv 2502.07115, Theorem 4.1). So online guarantees need assumptions on arrivals.",
        curves=Curves("M (tokens)", "total latency against the better schedule (times)", curves),
    )
