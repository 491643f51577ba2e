"""Volume first: why it is good, what is proved of it, and what it costs here."""

from __future__ import annotations

from engine import wording
from engine.bound import gap
from engine.bound_method import find_method
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import Curves, LessonControl, LessonQuestion, LessonStep, lesson, run, said

SHARES = (5, 20, 40, 60, 80)
SORTED_F = 48  # proved for Sorted-F, arXiv 2508.06133
WHOLE = 400  # M of the larger instance, tokens


def guarantee(largest_share: float) -> float:
    """1 + 2/(1 - a), proved for smallest volume first, a = max(s + o)/M (arXiv 2606.22327)."""
    return 1 + 2 / (1 - largest_share)


@lesson(
    key="volume-first",
    title="Volume first, and what is proved",
    place=6,
    asks="What does a guarantee of 3, or of 48, say about your latency?",
    parameter=LessonControl(
        "Largest request, share of M (%)",
        SHARES,
        20,
        "The guarantee of volume first gets weaker as one request may fill the memory.",
    ),
)
def steps(share: int) -> list[LessonStep]:
    return [_small(), _proved(share)]


def _small() -> LessonStep:
    workload = written_out(
        ExampleRequests(6, 6, class_name="large", count=3),
        ExampleRequests(2, 3, class_name="small", count=8),
    )
    memory = 24
    volume, area = run("svf", workload, memory), int(workload.volume.sum())
    rounds = area / memory
    return LessonStep(
        "Fill the rectangle, smallest first",
        "The memory is a rectangle, M high and as wide as time. Every schedule has to fit the same "
        f"areas into it: {wording.count(area)} token-rounds here, so no schedule ends before "
        f"round {wording.number(rounds)}. Small areas first lets the most requests leave early.",
        question=LessonQuestion(
            "When does smallest volume first finish the last one?",
            (
                f"round {int(volume.finish.max())}",
                f"round {int(2 * rounds)}",
                f"round {int(4 * rounds)}",
            ),
            0,
            f"At round {int(volume.finish.max())}, with a total latency of {said(volume)}. What "
            f"is missing to {wording.number(rounds)} are the gaps that stairs leave.",
        ),
        runs={"svf": volume},
    )


def mix(share: int):
    """A larger backlog whose largest request fills `share` percent of M = 400."""
    largest = WHOLE * share // 100
    return written_out(
        ExampleRequests(largest - 4, 4, class_name="fat", count=30),
        ExampleRequests(2, 12, class_name="thin", count=130),
    )


def measured(key: str, share: int) -> float:
    """Total latency of the policy on `mix`, against a certified bound."""
    workload = mix(share)
    ratio = gap(run(key, workload, WHOLE), find_method("fluid").bounds(workload, WHOLE))
    assert ratio is not None  # a backlog without preemption is always covered
    return ratio


def _proved(share: int) -> LessonStep:
    by_volume, by_batches = measured("svf", share), measured("sorted-f", share)
    proved = guarantee(share / 100)
    edges = (2.0, 6.0)
    return LessonStep(
        "What is proved, and what happens",
        f"The proof says: smallest volume first never needs more than 1 + 2/(1 − a) times the "
        f"optimum, a being the largest request's share of M. At {share}{wording.THIN}% that is "
        f"{wording.ratio(proved)}, near 3 when all are small. For Sorted-F {SORTED_F} is proved.",
        question=LessonQuestion(
            "160 requests, M = 400. How far is it from optimal at most, on these?",
            ("less than 2 times", f"2 to {edges[1]:.0f} times", f"more than {edges[1]:.0f} times"),
            sum(by_volume >= edge for edge in edges),
            f"At most {wording.ratio(by_volume)} the optimum, by a certified bound for these very "
            f"requests; Sorted-F {wording.ratio(by_batches)}. A guarantee speaks of the worst "
            "requests anybody could send, a bound of yours.",
        ),
        curves=Curves(
            "largest request, share of M (%)",
            "total latency over the optimum (times)",
            {
                "proved for svf": (list(SHARES), [guarantee(at / 100) for at in SHARES]),
                "svf": (list(SHARES), [measured("svf", at) for at in SHARES]),
                "sorted-f": (list(SHARES), [measured("sorted-f", at) for at in SHARES]),
            },
            mark=share,
        ),
    )
