"""WAIT's thresholds: letting in as many as arrive keeps every round equally full."""

from __future__ import annotations

import numpy as np

from engine import wording
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import (
    Curves,
    LessonControl,
    LessonQuestion,
    LessonStep,
    lesson,
    outcomes,
    run,
)

RATE = 4  # requests a round
HOLDS = 2 + 3  # tokens of a request (1, 2) at the end of its two rounds
M = RATE * HOLDS
ROUNDS = 12  # in which requests arrive
WAITING = 9  # when it begins


@lesson(
    key="wait-thresholds",
    title="WAIT's thresholds",
    place=10,
    asks="Can it help to let in fewer than would fit?",
    parameter=LessonControl(
        "Threshold: how many start together",
        (1, 2, 3, 4, 5, 6, 8),
        4,
        f"{RATE} requests arrive a round.",
    ),
)
def steps(threshold: int) -> list[LessonStep]:
    workload = written_out(
        ExampleRequests(1, 2, count=WAITING),
        *(ExampleRequests(1, 2, arrival=t, count=RATE) for t in range(ROUNDS)),
    )
    greedy = run("fcfs", workload, M)
    grouped = run("wait", workload, M, threshold=threshold)
    return [_greedy(greedy), _grouped(greedy, grouped, threshold)]


def done_by_round(of) -> np.ndarray:
    """(rounds + 1,) how many completed at the end of each round."""
    return np.bincount(of.finish)


def pace(of) -> float:
    """Completions a round, from the first completion until the last arrival."""
    return float(done_by_round(of)[2 : ROUNDS + 2].mean())


def _greedy(greedy) -> LessonStep:
    counts = done_by_round(greedy)[2:8].tolist()
    served = pace(greedy)
    options = ("steady: the same number every round", "a full round, then a nearly empty one")
    return LessonStep(
        "As many as fit",
        f"{RATE} requests (1 + 2 tokens) arrive every round, {WAITING} wait already. Each holds 2 "
        f"tokens, then 3: {RATE} a round need {RATE} · {HOLDS} = M = {M}. In principle it fits.",
        question=LessonQuestion(
            "First come, first served, with look-ahead. What do completions look like?",
            options,
            0 if len(set(counts)) == 1 else 1,
            f"Completions of rounds 2 to 7: {', '.join(map(str, counts))}. A full batch grows "
            "together and leaves no room for the next; then all leave together. That is "
            f"{wording.number(served)} a round where {RATE} are possible.",
        ),
        runs={"fcfs": greedy},
    )


def _grouped(greedy, grouped, threshold: int) -> LessonStep:
    runs = {"fcfs": greedy, f"wait, threshold {threshold}": grouped}
    in_groups, at_once = pace(grouped), pace(greedy)
    verdict = (
        "more than" if in_groups > at_once else "less than" if in_groups < at_once else "as many as"
    )
    rounds = list(range(2, ROUNDS + 2))
    return LessonStep(
        "Hold back to go faster",
        f"WAIT starts exactly {threshold} together once {threshold} wait: "
        f"{wording.number(in_groups)} completions a round, {verdict} the greedy "
        f"{wording.number(at_once)}. At {RATE}, what arrives in a round, the fluid is met exactly; "
        "fewer starve the memory, more bring the waves back.",
        runs={f"wait, threshold {threshold}": grouped},
        curves=Curves(
            "round",
            "completions",
            {
                label: (rounds, done_by_round(run)[2 : ROUNDS + 2].tolist())
                for label, run in (("fcfs", greedy), ("wait", grouped))
            },
        ),
        table=outcomes(runs),
        about="The same arrivals, with and without a threshold",
    )
