"""Preemption thrash, what it costs on each clock, and what a watermark does about it."""

from __future__ import annotations

import pandas as pd

from engine import wording
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import Curves, LessonControl, LessonQuestion, LessonStep, lesson, run, said
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.metrics import recomputed_tokens

M = 30
EIGHT = ExampleRequests(5, 10, count=8)
MARKS = (0, 10, 20, 30, 40, 50, 60, 70)
# A round of 50 ms and 20 ms for each prefilled token: a token here stands for a block of many.
GPU = seconds_clock(0.05, 0.02)


@lesson(
    key="thrash",
    title="Preemption thrash and the watermark",
    place=8,
    asks="What if memory is promised to too many?",
    parameter=LessonControl(
        "Watermark: share of M that admission leaves free (%)",
        MARKS,
        0,
        "0: everybody comes in who fits now. Where does the mean latency stop falling?",
    ),
)
def steps(mark: int) -> list[LessonStep]:
    workload = written_out(EIGHT)
    eager = run("vllm", workload, M)
    return [
        _eager(eager),
        _two_clocks(workload),
        _watermark(workload, mark),
    ]


def _eager(eager) -> LessonStep:
    lost, again = int(eager.preemptions.sum()), recomputed_tokens(eager)
    options = (0, lost, 3 * lost)
    return LessonStep(
        "Admit what fits now",
        f"Eight requests of {EIGHT.prompt} + {EIGHT.output} tokens, M = {M}. vLLM does not know "
        "outputs: it admits while the present use fits. Then all of them grow. When memory runs "
        "out, the newest loses its KV cache and starts over with a longer prompt.",
        question=LessonQuestion(
            "How often does somebody lose the cache before all eight are done?",
            tuple(f"{k} times" for k in options),
            options.index(lost),
            f"{lost} times, and {again} tokens are prefilled or generated again, beside "
            f"{int(eager.workload.output.sum())} that users see. Where a stair ends in the middle, "
            "a cache was dropped.",
        ),
        runs={"vllm, no watermark": eager},
    )


def _two_clocks(workload) -> LessonStep:
    runs = [
        run(key, workload, M, clock=clock) for clock in (ROUNDS, GPU) for key in ("vllm", "fcfs")
    ]
    dropped, kept, dropped_s, kept_s = (float(served.latency.mean()) for served in runs)
    cheaper = "less" if dropped < kept else "more"
    dearer = "more" if dropped_s > kept_s else "less"
    table = pd.DataFrame(
        {
            "Policy": ["vllm", "fcfs with look-ahead"],
            "Mean latency (rounds)": [wording.number(dropped), wording.number(kept)],
            "Mean latency (s)": [wording.number(dropped_s), wording.number(kept_s)],
        }
    )
    return LessonStep(
        "Is that bad? It depends on the clock",
        f"If every round takes as long as any other, reading a prompt again is free: {cheaper} "
        "latency than by look-ahead, which never drops anything. Where a round takes 50 ms and "
        f"20 ms more for each prefilled token, the same rounds cost {dearer}.",
        table=table,
        about="The same eight requests on two clocks",
    )


def _watermark(workload, mark: int) -> LessonStep:
    runs = {at: run("vllm", workload, M, clock=GPU, watermark=at / 100) for at in MARKS}
    means = [float(served.latency.mean()) for served in runs.values()]
    best = MARKS[means.index(min(means))]
    here = runs[mark]
    return LessonStep(
        "Keep some memory back",
        f"A watermark of {mark}{wording.THIN}%: "
        f"{wording.counted(here.preemptions.sum(), 'preemption')}, mean latency "
        f"{wording.number(float(here.latency.mean()))} s ({said(here)} in all). Of these, "
        f"{best}{wording.THIN}% is best: below it work is done twice, above it memory stands idle.",
        runs={f"vllm, watermark {mark}{wording.THIN}%": here},
        curves=Curves(
            "watermark (% of M)", "mean latency (s)", {"vllm": (list(MARKS), means)}, mark=mark
        ),
    )
