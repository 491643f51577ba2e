"""The fat-short trap: an output of one token is short, and may still fill the memory."""

from __future__ import annotations

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

M = 24
FATS, THINS = 6, 24


@lesson(
    key="fat-short",
    title="The fat-short trap",
    place=3,
    asks="Why is shortest output first not safe?",
    parameter=LessonControl(
        "Prompt of the fat requests (tokens)",
        (1, 3, 5, 11, 17, 23),
        23,
        f"M is {M}. When is shortest output first right after all?",
    ),
)
def steps(prompt: int) -> list[LessonStep]:
    workload = written_out(
        ExampleRequests(prompt, 1, class_name="fat", count=FATS),
        ExampleRequests(1, 2, class_name="thin", count=THINS),
    )
    shortest, volume = run("mc-sf", workload, M), run("svf", workload, M)
    return [_who_goes_first(prompt, shortest), _what_it_costs(prompt, shortest, volume)]


def _who_goes_first(prompt: int, shortest) -> LessonStep:
    fat_volume, thin_volume = (int(shortest.workload.volume[i]) for i in (0, -1))
    return LessonStep(
        "Shortest output first",
        f"{FATS} requests have a prompt of {prompt} and an output of 1 token; {THINS} have a "
        f"prompt of 1 and an output of 2. MC-SF sorts by output, because short jobs first is "
        "what a queue of equal machines wants.",
        question=LessonQuestion(
            "Which start first?",
            ("the fat ones: output 1", "the thin ones: 3 tokens at most"),
            0 if shortest.workload.class_of[shortest.order[0]] == 0 else 1,
            f"Output 1 is less than 2, so the fat ones. A fat one takes {fat_volume} token-rounds "
            f"and a thin one {thin_volume}: MC-SF never looks at the prompt.",
        ),
        runs={"mc-sf": shortest},
    )


def _what_it_costs(prompt: int, shortest, volume) -> LessonStep:
    loss = total(shortest) / total(volume)
    verdict = (
        f"{said(shortest)} against {said(volume)}: {loss:.2f} times as much."
        if loss > 1
        else f"At a prompt of {prompt} both need {said(volume)}: no trap here."
        if loss == 1
        else f"At a prompt of {prompt} MC-SF is even better: {said(shortest)} against "
        f"{said(volume)}."
    )
    runs = {"mc-sf": shortest, "svf": volume}
    return LessonStep(
        "What it costs",
        f"Everybody thin waits for the fat ones. Volume first runs the thin ones first. {verdict}",
        runs=runs,
        table=outcomes(runs),
        about="The same requests, two orders",
    )
