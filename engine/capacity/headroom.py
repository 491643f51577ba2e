"""How much more the servers could carry, and with how much less memory (docs/model.md 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine import wording
from engine.capacity.border import Border, bisect_factor
from engine.capacity.carried import keeps_up_with
from engine.capacity.draws import STEADY
from engine.capacity.question import Question
from engine.capacity.rate import Capacity
from engine.choice import Choice
from engine.progress import Progress, silent


def smallest_memory(choice: Choice, question: Question, progress: Progress = silent) -> Border:
    """The M (whole tokens) with which the servers carry the present rate, none set aside.

    Which rate a memory keeps up with is what engine/capacity/limit.py says of the requests that
    fit in the M there is.
    """
    draws, deployment = question.draws, question.deployment
    memory = deployment.memory
    drawn = draws.at(draws.rate, question.seeds[0], STEADY)
    fitting = drawn.take(drawn.peak <= memory)
    least = int(fitting.peak.max())
    rate = draws.rate * len(fitting) / len(drawn)

    def carried(factor: float) -> bool:
        tokens = int(memory / factor)
        if tokens < least:
            return False
        kept_up = keeps_up_with(choice, fitting, replace(deployment, memory=tokens))
        return kept_up is None or rate <= kept_up.carries

    border = bisect_factor(carried, progress)
    # The very numbers of tokens that were simulated: one more may schedule another way.
    carries = int(memory / border.carries) if border.carries else np.inf
    return Border(carries, int(memory / border.fails))


def headroom_in_words(capacity: Capacity, memory: Border, unit: str) -> str:
    """The headroom in two sentences."""
    sentence = (
        f"**{capacity.label}** cannot keep up with these requests at any rate that was tried."
    )
    if capacity.rate is not None:
        per = "round" if unit == "rounds" else "second"
        most = "at least " if capacity.is_least else "up to "
        rate = wording.number(capacity.rate)
        sentence = f"**{capacity.label}** carries {most}{rate} of these requests a {per}."
    if not np.isfinite(memory.carries):
        return f"{sentence} At the present rate more memory alone would not be enough."
    tokens = wording.tokens(memory.carries)
    return f"{sentence} At the present rate it needs about {tokens} of KV cache."
