"""LP, prices and certificates on six requests."""

from __future__ import annotations

import pandas as pd

from engine import wording
from engine.bound_method import find_method
from engine.demand.example import ExampleRequests, written_out
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
from engine.proof.dual import evaluate

M = 10
SIX = ExampleRequests(2, 3, count=6)
SCALES = (0, 25, 50, 75, 100, 125, 150, 200)


@lesson(
    key="prices",
    title="Prices, the LP and certificates",
    place=12,
    asks="How can one know that nobody could do better?",
    parameter=LessonControl(
        "Prices, against the best ones (%)",
        SCALES,
        100,
        "Any prices prove a bound. Make them too low or too high: can you break the proof?",
    ),
)
def steps(scale: int) -> list[LessonStep]:
    workload = written_out(SIX)
    by_name = {row.bound: row for row in find_method("lp").bounds(workload, M)}
    optimum = find_method("hindsight").bounds(workload, M)[0]
    runs = {key: run(key, workload, M) for key in ("svf", "vllm")}
    return [
        _the_gap(runs, optimum),
        _prices(workload, by_name["lp"], scale),
        _certificate(workload, by_name["lp"], scale),
        _covered(runs, by_name, optimum),
    ]


def _the_gap(runs, optimum) -> LessonStep:
    best = wording.total(optimum.value)
    return LessonStep(
        "Six requests",
        f"Six requests of {SIX.prompt} + {SIX.output} tokens, M = {M}: room for two at their end. "
        f"Smallest volume first needs {said(runs['svf'])}. An integer program, which weighs every "
        f"schedule, shows that {best} is the least without preemption. With 2,000 requests nobody "
        "can do that: there a **bound** has to do.",
        runs={"svf": runs["svf"]},
    )


def dual_at(workload, bound, scale: int):
    """The dual function at `scale` percent of the bound's prices."""
    return evaluate(workload, M, bound.prices[0].by_round * scale / 100)


def _prices(workload, lp, scale: int) -> LessonStep:
    dual = dual_at(workload, lp, scale)
    prices = dual.prices
    return LessonStep(
        "Sell the memory",
        "Put a price on a token of memory in every round. Each request then picks the start where "
        "its latency plus what its memory costs is least; nobody asks whether it fits. Crowded "
        "rounds are dear.",
        question=LessonQuestion(
            "All pay their least, and the whole memory's worth is taken off. The result is ..",
            ("at most any real total latency", "the total latency of a real schedule"),
            0,
            "In any real schedule everybody pays at least their least, and all the memory that is "
            "sold is worth at most M times the prices. So the result is a lower bound, whatever "
            f"the prices: {wording.number(dual.value)} rounds at {scale}{wording.THIN}%.",
        ),
        curves=Curves(
            "round",
            "price of a token (rounds)",
            {f"prices at {scale}{wording.THIN}%": (list(range(len(prices))), prices.tolist())},
            steps=True,
        ),
    )


def _certificate(workload, lp, scale: int) -> LessonStep:
    dual = dual_at(workload, lp, scale)
    paid, worth = float(dual.least.sum()), M * float(dual.prices.sum())
    table = pd.DataFrame(
        {
            "Request": [f"#{i}" for i in range(len(workload))],
            "Cheapest start (round)": [wording.count(start) for start in dual.start],
            "Pays at least (rounds)": [wording.number(least) for least in dual.least],
        }
    )
    values = [dual_at(workload, lp, at).value for at in SCALES]
    return LessonStep(
        "A certificate is a list of prices",
        f"Anybody can check it: the six pay {wording.number(paid)}, the memory is worth "
        f"{wording.number(worth)}, so no schedule without preemption is below "
        f"{wording.number(dual.value)}. Prices from the linear program (LP) give the most, "
        f"{wording.number(lp.value)}; others give less, and never a false bound.",
        table=table,
        about=f"What each request pays at {scale}{wording.THIN}% of the best prices",
        curves=Curves(
            "prices, against the best ones (%)",
            "bound (rounds)",
            {"bound": (list(SCALES), values)},
            mark=scale,
        ),
    )


def _covered(runs, by_name, optimum) -> LessonStep:
    cost, bound = total(runs["vllm"]), by_name["lp"].value
    lower = by_name["lp-preemptive"].value
    return LessonStep(
        "What the bound speaks of",
        f"vLLM may drop a KV cache and start over. On these six it needs {said(runs['vllm'])}.",
        question=LessonQuestion(
            f"The LP says {wording.number(bound)}. Is it wrong?",
            ("yes", "no: it speaks only of schedules that keep every cache"),
            0 if by_name["lp"].covers(runs["vllm"]) and cost < bound else 1,
            f"A request that drops its cache uses less memory meanwhile than the LP reckons with. "
            f"Prices that never rise bound those schedules too: {wording.number(lower)}. So each "
            "run here is compared only with bounds that cover it.",
        ),
        runs={"vllm": runs["vllm"]},
    )
