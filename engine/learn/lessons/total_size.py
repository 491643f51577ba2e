"""Why prompt + output misleads: it says how much a request holds at its end, not for how long."""

from __future__ import annotations

from engine import wording
from engine.learn.families import lasting_and_brief, small_first
from engine.learn.lesson import (
    Curves,
    LessonControl,
    LessonQuestion,
    LessonStep,
    lesson,
    outcomes,
    run,
    said,
    total,
)

TOGETHER = 5
SCALES = (1, 4, 9, 16, 25)


@lesson(
    key="total-size",
    title="Why total size misleads",
    place=4,
    asks="Is the request with fewer tokens the smaller one?",
    parameter=LessonControl(
        "Output of the lasting requests, L (tokens)",
        SCALES,
        4,
        "Their prompt is L², the brief ones have L² + L and one token of output.",
    ),
)
def steps(length: int) -> list[LessonStep]:
    workload, memory = lasting_and_brief(length, TOGETHER)
    by_size, best = run("shortest-total", workload, memory), small_first(workload, memory)
    return [
        _who_is_smaller(by_size, memory),
        _what_it_costs(by_size, best),
        _how_it_grows(length),
    ]


def _who_is_smaller(by_size, memory: int) -> LessonStep:
    lasting, brief = (by_size.workload.take([i]) for i in (0, -1))
    sizes = [int(requests.peak[0]) for requests in (lasting, brief)]
    volumes = [int(requests.volume[0]) for requests in (lasting, brief)]
    return LessonStep(
        "Two kinds of requests",
        f"Lasting ones end at {sizes[0]} tokens after {int(lasting.output[0])} rounds, brief ones "
        f"at {sizes[1]} after one. M = {wording.count(memory)} holds {TOGETHER} of either.",
        question=LessonQuestion(
            "Which should go first?",
            ("the lasting ones: fewer tokens", "the brief ones: gone after a round"),
            0 if volumes[0] < volumes[1] else 1,
            f"By volume a lasting one is {volumes[0]} token-rounds, a brief one {volumes[1]}. The "
            f"sum of prompt and output says {sizes[0]} against {sizes[1]}: it knows how high the "
            "stairs are and not how wide.",
        ),
        runs={"shortest-total": by_size},
    )


def _what_it_costs(by_size, best) -> LessonStep:
    runs = {"shortest-total": by_size, "brief ones first": best}
    loss = total(by_size) / total(best)
    return LessonStep(
        "What it costs",
        f"Smallest total first needs {said(by_size)}, the brief ones first {said(best)}: "
        f"{wording.ratio(loss)}" + ("." if loss > 1 else ", nothing lost at this length."),
        runs=runs,
        table=outcomes(runs),
        about="The same requests, two orders",
    )


def _how_it_grows(length: int) -> LessonStep:
    ratios = []
    for scale in SCALES:
        workload, memory = lasting_and_brief(scale, TOGETHER)
        by_size = run("shortest-total", workload, memory)
        ratios.append(total(by_size) / total(small_first(workload, memory)))
    return LessonStep(
        "It grows without end",
        f"The longer the lasting ones, the worse: {wording.ratio(ratios[0])} at L = {SCALES[0]}, "
        f"{wording.ratio(ratios[-1])} at L = {SCALES[-1]}. No number bounds the loss for all L.",
        curves=Curves(
            "L (tokens)",
            "total latency against brief ones first (times)",
            {"shortest-total": (list(SCALES), ratios)},
            mark=length,
        ),
    )
