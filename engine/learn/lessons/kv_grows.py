"""How the KV cache of a request grows, and what its volume is."""

from __future__ import annotations

from engine import wording
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import LessonControl, LessonQuestion, LessonStep, lesson, run
from engine.memory_curve import peak_memory

M = 20
PROMPT = 4
OTHERS = (ExampleRequests(3, 5, class_name="others"), ExampleRequests(6, 2, class_name="others"))


@lesson(
    key="kv-grows",
    title="How the KV cache grows",
    place=1,
    asks="How much memory does a request hold, and for how long?",
    parameter=LessonControl(
        "Output of request #0 (tokens)",
        (1, 2, 4, 6, 8, 12, 16, 18),
        6,
        f"Its prompt has {PROMPT} tokens. Make it so long that it can never run.",
    ),
)
def steps(output: int) -> list[LessonStep]:
    first = ExampleRequests(PROMPT, output, class_name="request #0")
    fits = PROMPT + output <= M
    return [*(_alone(first) if fits else _too_large(first)), _together(first)]


def _alone(first: ExampleRequests) -> list[LessonStep]:
    workload = written_out(first)
    alone, output, volume = run("fcfs", workload, M), first.output, int(workload.volume[0])
    longer = int(written_out(ExampleRequests(PROMPT, 2 * output)).volume[0])
    grown = longer / volume
    grows = LessonStep(
        "One request",
        f"Request #0 has a prompt of {PROMPT} tokens and an output of {output}. In its first round "
        f"the prompt is read and the first token made: it holds {PROMPT + 1}. Every round adds "
        f"one, up to {PROMPT + output}. Then it is done, and all of it is free at once.",
        runs={"One request alone": alone},
    )
    area = LessonStep(
        "The area under the stairs",
        f"Tokens times rounds is the **volume**: s·o + o(o+1)/2 = {wording.count(volume)} "
        "token-rounds here. It is what the request takes from everybody else.",
        question=LessonQuestion(
            f"With an output twice as long, {2 * output} tokens, its volume is ..",
            ("the same", "twice as much", "more than twice as much"),
            2 if grown > 2 else 1,
            f"It grows from {wording.count(volume)} to {wording.count(longer)} token-rounds, "
            f"{wording.ratio(grown)}: it stays longer, and what it holds keeps growing.",
        ),
        runs={"One request alone": alone},
    )
    return [grows, area]


def _too_large(first: ExampleRequests) -> list[LessonStep]:
    least = PROMPT + first.output
    refused = LessonStep(
        "Too large for this memory",
        f"With {PROMPT} + {first.output} tokens request #0 would end at {least}, more than "
        f"M = {M}. No schedule can ever run it, so it is set aside and counted. The others go on.",
    )
    enough = LessonStep(
        "The least memory that runs it",
        f"Its last token is the one that counts: prompt + output = {least} tokens of memory run "
        "it, alone, and not one less. The top of the stairs touches M in its last round only.",
        runs={f"Alone, with M = {least}": run("fcfs", written_out(first), least)},
    )
    return [refused, enough]


def _together(first: ExampleRequests) -> LessonStep:
    together = run("fcfs", written_out(first, *OTHERS), M)
    highest = wording.count(peak_memory(together))
    left_out = "" if not len(together.set_aside) else " (#0 is set aside)"
    return LessonStep(
        "Several requests share the memory",
        "The stairs stand on each other. A request may only start if all of them stay below "
        f"M = {M} in every round to come; here the highest is {highest}{left_out}. That check is "
        "called **look-ahead**: the dashed boxes are what is planned.",
        runs={"Three requests": together},
    )
