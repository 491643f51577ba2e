"""Why F = sum of outputs / (batch size)^2: watch phase 1 of Sorted-F choose."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from engine import wording
from engine.batches.choose import sorted_batches
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import Curves, LessonControl, LessonQuestion, LessonStep, lesson, run, said

M = 26


@lesson(
    key="why-f",
    title="Why F weighs batch size against decode cost",
    place=5,
    asks="Which requests should share the memory first?",
    parameter=LessonControl(
        "Output of the slow requests (tokens)",
        (2, 4, 6, 8, 12),
        8,
        "The quick ones have 2. When does a batch rather leave the slow ones out?",
    ),
)
def steps(slow: int) -> list[LessonStep]:
    workload = written_out(
        ExampleRequests(2, 2, class_name="quick", count=4),
        ExampleRequests(1, slow, class_name="slow", count=3),
        ExampleRequests(12, 3, class_name="wide", count=2),
    )
    batches = sorted_batches(workload, M)
    return [_the_choice(workload, next(iter(batches))), _all_batches(workload, batches)]


def least_outputs(workload) -> dict[int, int]:
    """For each number of requests that can fill M together, the least sum of their outputs."""
    least: dict[int, int] = {}
    for size in range(1, len(workload) + 1):
        for which in combinations(range(len(workload)), size):
            if workload.peak[list(which)].sum() <= M:
                outputs = int(workload.output[list(which)].sum())
                least[size] = min(outputs, least.get(size, outputs))
    return least


def _the_choice(workload, first: np.ndarray) -> LessonStep:
    least = least_outputs(workload)
    sizes = list(least)
    f = [least[size] / size**2 for size in sizes]
    chosen = sizes.index(len(first))
    options = tuple(
        f"{size} request{'s' if size > 1 else ''}, F = {value:.2f}"
        for size, value in zip(sizes, f, strict=True)
    )
    last = chosen == len(sizes) - 1
    return LessonStep(
        "The first batch",
        "A batch X keeps the others waiting for about its mean output, sum(o)/|X|, and sets |X| "
        "requests free. Waiting for each one set free is **F = sum(o) / |X|²**: a larger batch is "
        f"good, long outputs are bad. M = {M}.",
        question=LessonQuestion(
            "For each batch size, the best F. Which batch does phase 1 take?",
            options,
            chosen,
            f"The least F: {len(first)} requests with {int(workload.output[first].sum())} output "
            "tokens in all. "
            + (
                "Nothing more fits."
                if last
                else f"One more would fit, but its output would raise F to {f[chosen + 1]:.2f}."
            ),
        ),
        curves=Curves(
            "requests in the batch",
            "F = sum(o) / |X|² (rounds)",
            {"least F": (sizes, f)},
            mark=len(first),
        ),
    )


def _all_batches(workload, batches) -> LessonStep:
    listed = pd.DataFrame(
        {
            "Batch": [f"{k + 1}" for k in range(len(batches))],
            "Requests": [", ".join(f"#{i}" for i in sorted(batch)) for batch in batches],
            "Sum of outputs": [wording.count(workload.output[b].sum()) for b in batches],
            "Tokens at the end": [wording.count(workload.peak[b].sum()) for b in batches],
            "F": [f"{workload.output[b].sum() / len(b) ** 2:.2f}" for b in batches],
        }
    )
    runs = {key: run(key, workload, M) for key in ("sorted-f", "mc-sf", "svf")}
    return LessonStep(
        "All batches, and the run",
        "Phase 1 repeats until nobody is left. Phase 2 only keeps the order: a request starts as "
        f"soon as it fits, not batch by batch. Sorted-F needs {said(runs['sorted-f'])}, shortest "
        f"output first {said(runs['mc-sf'])}, smallest volume first {said(runs['svf'])}.",
        runs={"sorted-f": runs["sorted-f"]},
        table=listed,
        about="The batches of phase 1, in order",
    )
