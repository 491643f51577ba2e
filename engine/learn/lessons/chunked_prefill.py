"""Chunked prefill: shorter pauses for those who read along, a later first token for another."""

from __future__ import annotations

import numpy as np

from engine import wording
from engine.demand.example import ExampleRequests, written_out
from engine.learn.lesson import Curves, LessonControl, LessonQuestion, LessonStep, lesson, run
from engine.machine.hardware import find_preset
from engine.measure.times import ttft
from engine.measure.token_gaps import largest_token_gap

M = 16_492
PRESET = "mc-sf-paper"
CHATS = ExampleRequests(100, 60, class_name="chat", count=4)
DOCUMENT = ExampleRequests(3000, 20, arrival=1.0, class_name="document")
CHUNKS = (64, 128, 256, 512, 1024, 2048, 4096)


@lesson(
    key="chunked-prefill",
    title="Chunked prefill's trade-off",
    place=9,
    asks="A long prompt comes while others read along: who waits?",
    parameter=LessonControl(
        "Tokens a round (chunk size)",
        CHUNKS,
        512,
        f"{CHUNKS[-1]} swallows the whole prompt at once. How small before the document suffers?",
    ),
)
def steps(chunk: int) -> list[LessonStep]:
    whole, cut = served(CHUNKS[-1]), served(chunk)
    return [_at_once(whole), _in_chunks(chunk, cut, whole), _trade_off(chunk)]


def served(chunk: int):
    """The run with so many tokens a round."""
    clock = find_preset(PRESET).clock
    return run("sarathi", written_out(CHATS, DOCUMENT), M, clock=clock, chunk_size=chunk)


def pause(of) -> float:
    """The longest time between two tokens of any chat, seconds."""
    return float(np.nanmax(largest_token_gap(of)[of.workload.class_of == 0]))


def first_token(of) -> float:
    """From the document's arrival to its first token, seconds."""
    return float(ttft(of)[of.workload.class_of == 1][0])


def _seconds(value: float) -> str:
    return wording.amount(value, "s")


def _at_once(whole) -> LessonStep:
    longest, usual = pause(whole), _usual(whole)
    factors = (2, 5, 20)
    return LessonStep(
        "A document comes in",
        f"Four chats decode, a token a round; a round takes about {_seconds(usual)}. After 1 s a "
        f"document of {wording.count(DOCUMENT.prompt)} tokens arrives, and its whole prompt is "
        "read in one round, together with the chats' next tokens.",
        question=LessonQuestion(
            "How long is the longest pause of a chat, against a usual round?",
            tuple(f"about {k} times" for k in factors),
            min(range(3), key=lambda k: abs(np.log(longest / usual / factors[k]))),
            f"{_seconds(longest)}: everybody in the batch waits for the slowest part of its round. "
            f"The document has its first token after {_seconds(first_token(whole))}.",
        ),
    )


def _usual(of) -> float:
    """A chat's time per token before the document came, seconds."""
    return float(of.ends(np.array([10]))[0] - of.ends(np.array([9]))[0])


def _in_chunks(chunk: int, cut, whole) -> LessonStep:
    pieces = -(-DOCUMENT.prompt // max(1, chunk - CHATS.count))
    return LessonStep(
        "The same prompt in chunks",
        f"Sarathi gives a round {wording.count(chunk)} tokens: one for each chat, the rest for a "
        f"piece of the prompt, {pieces} piece{'s' if pieces > 1 else ''} in all. The longest pause "
        f"goes from {_seconds(pause(whole))} to {_seconds(pause(cut))}, the document's first token "
        f"from {_seconds(first_token(whole))} to {_seconds(first_token(cut))}.",
        runs={f"sarathi, {wording.count(chunk)} tokens a round": cut},
    )


def _trade_off(chunk: int) -> LessonStep:
    runs = [served(size) for size in CHUNKS]
    pauses, firsts = [pause(run) for run in runs], [first_token(run) for run in runs]
    return LessonStep(
        "The trade-off",
        f"Small chunks: pauses of {_seconds(min(pauses))}, but {_seconds(max(firsts))} to the "
        "document's first token, because every round reads the weights again. Large chunks: the "
        f"other way round, {_seconds(max(pauses))} and {_seconds(min(firsts))}.",
        curves=Curves(
            "tokens a round",
            "seconds",
            {
                "longest pause of a chat": (list(CHUNKS), pauses),
                "first token of the document": (list(CHUNKS), firsts),
            },
            mark=chunk,
            log=True,
        ),
    )
