"""Head-of-line blocking: nobody passes the first in line, however small."""

from __future__ import annotations

from engine import wording
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import (
    LessonControl,
    LessonQuestion,
    LessonStep,
    lesson,
    outcomes,
    run,
    said,
    total,
)
from engine.measure.story import obstacle
from engine.measure.times import queueing
from engine.memory_curve import mean_memory

M = 20
LARGE = ExampleRequests(9, 8, class_name="large", count=2)
SMALL = ExampleRequests(1, 2, class_name="small", count=6)


@lesson(
    key="head-of-line",
    title="Head-of-line blocking",
    place=2,
    asks="Memory is free and small requests wait: why?",
    parameter=LessonControl(
        "How many that do not fit may be passed over (skip)",
        (0, 1, 2),
        0,
        "0: nobody passes the first in line, the rule of the papers.",
    ),
)
def steps(skip: int) -> list[LessonStep]:
    workload = written_out(LARGE, SMALL)
    strict, loose = (run("fcfs", workload, M, skip=passed) for passed in (0, skip))
    volume = run("svf", workload, M)
    return [_the_wait(strict), _the_check(strict), _pass_over(strict, loose, skip, volume)]


def _the_wait(strict) -> LessonStep:
    waited = queueing(strict)[strict.workload.class_of == 1]
    return LessonStep(
        "First come, first served",
        f"Two large requests ({LARGE.prompt} + {LARGE.output} tokens) came first, then six small "
        f"ones ({SMALL.prompt} + {SMALL.output}). M = {M} holds one large one.",
        question=LessonQuestion(
            "While #0 runs, there is room for small ones. When do they start?",
            ("at once, beside #0", "after #1 has started", "after all large ones are done"),
            0 if waited.min() == 0 else 1 if waited.min() == strict.start[1] else 2,
            f"The first small one starts after {wording.counted(waited.min(), 'round')}, when #1 "
            "has started: #1 is first in line, does not fit, and nobody passes it. Meanwhile "
            f"{wording.percent(1 - mean_memory(strict) / M)} of the memory is idle on average.",
        ),
        runs={"fcfs": strict},
    )


def _the_check(strict) -> LessonStep:
    blocked = obstacle(strict, 1, 0)
    assert blocked is not None  # #0 leaves too little room for any large one
    return LessonStep(
        "What blocks the first in line",
        f"Start #1 beside #0, and the memory would be {wording.tokens(blocked.missing)} over M at "
        f"the end of round {blocked.full_at}. The red boxes are #1 on top of the plan; step on, "
        "and watch the overflow shrink until #1 fits.",
        runs={"fcfs": strict},
    )


def _pass_over(strict, loose, skip, volume) -> LessonStep:
    effect = (
        "Turn the knob and let the small ones pass."
        if skip == 0
        else f"Passing over {skip} brings the total latency from {said(strict)} to {said(loose)}."
        if total(loose) < total(strict)
        else f"Passing over {skip} gains nothing here."
    )
    runs = {f"fcfs, skip {skip}": loose, "svf": volume}
    return LessonStep(
        "Let the small ones pass",
        f"{effect} Starting the smallest volume first needs no passing: {said(volume)}.",
        runs=runs,
        table=outcomes(runs),
        about="Two ways out",
    )
