"""Families on which a rule of thumb loses more and more: the ratio grows with the scale."""

from __future__ import annotations

from math import isqrt

from engine import wording
from engine.learn.families import fat_and_tiny, small_first
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
from engine.learn.lessons.volume_first import SORTED_F

SCALES = (100, 400, 900, 1600, 2500)
KEYS = ("mc-sf", "fcfs", "sorted-f", "svf")


def ratio_of(key: str, memory: int) -> float:
    """Total latency of the policy over that of the tiny ones first."""
    workload = fat_and_tiny(memory)
    return total(run(key, workload, memory)) / total(small_first(workload, memory))


@lesson(
    key="unbounded",
    title="Losses without a limit",
    place=7,
    asks="How bad can shortest output first get?",
    parameter=LessonControl(
        "Memory M (tokens): the scale of the family",
        SCALES,
        100,
        "√M requests fill the memory for one round, M tiny ones want two rounds.",
    ),
)
def steps(memory: int) -> list[LessonStep]:
    return [_in_small(), _growing(memory), _no_limit(memory)]


def _in_small() -> LessonStep:
    workload = fat_and_tiny(36)
    runs = {"mc-sf": run("mc-sf", workload, 36), "tiny ones first": small_first(workload, 36)}
    return LessonStep(
        "The family at M = 36",
        f"{isqrt(36)} fat requests (35 + 1 tokens) and 36 tiny ones (1 + 2). Shortest output first "
        f"runs the fat ones, one a round, while all the tiny ones wait: {said(runs['mc-sf'])} "
        f"against {said(runs['tiny ones first'])}.",
        runs=runs,
        table=outcomes(runs),
        about="The same requests, two orders",
    )


def _growing(memory: int) -> LessonStep:
    here, larger = ratio_of("mc-sf", memory), ratio_of("mc-sf", 4 * memory)
    grown = larger / here
    guesses = (1.0, 2.0, 4.0)
    nearest = min(range(3), key=lambda k: abs(guesses[k] - grown))
    return LessonStep(
        "Four times the memory",
        f"At M = {wording.count(memory)} MC-SF needs {wording.ratio(here)} the latency of the tiny "
        "ones first.",
        question=LessonQuestion(
            f"The same family at M = {wording.count(4 * memory)}: MC-SF's loss is ..",
            ("about the same", "about twice as large", "about four times as large"),
            nearest,
            f"{wording.ratio(larger)}: √M fat ones hold up M tiny ones, so the loss grows about "
            "like √M.",
        ),
    )


def _no_limit(memory: int) -> LessonStep:
    curves = {key: (list(SCALES), [ratio_of(key, at) for at in SCALES]) for key in KEYS}
    at = SCALES.index(memory)
    return LessonStep(
        "No number is large enough",
        f"At M = {wording.count(memory)}: MC-SF {wording.ratio(curves['mc-sf'][1][at])}, Sorted-F "
        f"{curves['sorted-f'][1][at]:.2f}x, smallest volume first {curves['svf'][1][at]:.2f}x. "
        "Whatever ratio you allow, a larger M breaks it for MC-SF. Sorted-F is proved to be below "
        f"{SORTED_F} on every backlog. The proof for volume first asks that no request fills the "
        "memory, as the fat ones do here; on this family it loses nothing all the same.",
        curves=Curves(
            "M (tokens)", "total latency against tiny ones first (times)", curves, mark=memory
        ),
    )
