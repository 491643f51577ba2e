"""A beam over time: many random schedules up to each stage's end, of which the best go on.

Each kept schedule has `children` that run on to the end of the stage, the first by
plain first fit, the others with a random taste. A child is judged by its loss after
another `LOOK` rounds of first fit (what it left for later shows only then) plus the
least loss still to come; the best go on from the stage's end. A child is remembered by
its seed and run again if it is kept, so that only kept schedules are copied.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.compiled import kernel, part
from engine.improve.chance import seeded, uniform
from engine.improve.guide import Guide, guide_of
from engine.improve.partial import (
    NO_END,
    PATIENT,
    Partials,
    Taste,
    copy_partial,
    empty_partials,
    least_loss_to_come,
    run_until,
)
from engine.workload import Workload

LOOK = 300  # rounds
STARTS_A_STAGE = 8
ROUNDS_A_STAGE = 30


@part
def _taste_of(child, chance):
    """Plain first fit for child 0; for the others first fit, snug fit or chance, at random."""
    if child == 0:
        return Taste(PATIENT, 0.0, 0.0, 0.0)
    window = int(1 + 3 * 2 ** (5 * uniform(chance)))
    kind = uniform(chance)
    if kind < 0.25:
        return Taste(window, 0.0, 0.0, 0.3 * uniform(chance))
    if kind < 0.75:
        snug = 10 ** (2 * uniform(chance) - 2)
        noise = 10 * uniform(chance)
        pass_over = 0.3 * uniform(chance) if uniform(chance) < 0.5 else 0.0
        return Taste(window, snug, noise, pass_over)
    return Taste(window, 0.0, window * uniform(chance), 0.0)


@part
def _run_child(partials, b, until, seed, stage, parent, child, guide, memory):
    chance = seeded(seed, stage, parent, child)
    run_until(partials, b, until, _taste_of(child, chance), chance, guide, memory)


@kernel
def _judge_children(kept, many, scratch, until, children, seed, stage, guide, memory):
    """(many * children,) float64: the loss at which each child can still end, as judged."""
    losses = np.empty(many * children)
    plain = Taste(PATIENT, 0.0, 0.0, 0.0)
    no_chance = seeded(0)
    for parent in range(many):
        for child in range(children):
            copy_partial(kept, parent, scratch, 0, False)
            _run_child(scratch, 0, until, seed, stage, parent, child, guide, memory)
            run_until(scratch, 0, until + LOOK, plain, no_chance, guide, memory)
            losses[parent * children + child] = scratch.loss[0] + least_loss_to_come(
                scratch, 0, guide
            )
    return losses


@kernel
def _keep(kept, chosen, others, until, children, seed, stage, guide, memory):
    """Run the chosen children again, each from its parent into a place of its own."""
    for place in range(chosen.size):
        parent, child = chosen[place] // children, chosen[place] % children
        copy_partial(kept, parent, others, place, True)
        _run_child(others, place, until, seed, stage, parent, child, guide, memory)


@kernel
def _finish(kept, many, guide, memory):
    """Run every kept schedule to its end by first fit; the one with the least starts."""
    plain = Taste(PATIENT, 0.0, 0.0, 0.0)
    no_chance = seeded(0)
    best, least = 0, np.iinfo(np.int64).max
    for b in range(many):
        run_until(kept, b, NO_END, plain, no_chance, guide, memory)
        total = kept.start[b].astype(np.int64).sum()
        if total < least:
            best, least = b, total
    return best


def _distinct_best(losses: np.ndarray, width: int) -> np.ndarray:
    """The indices of the `width` least losses that differ: equal ones are the same schedule."""
    _, first = np.unique(np.round(losses, 7), return_index=True)
    return first[:width]


def stage_ends(start: np.ndarray) -> np.ndarray:
    """(stages,) rounds: so many starts of a typical schedule apart, and not too close."""
    ends = [0]
    for end in np.sort(start)[STARTS_A_STAGE::STARTS_A_STAGE].tolist():
        if end - ends[-1] >= ROUNDS_A_STAGE:
            ends.append(end)
    return np.array(ends[1:], np.int64)


def beam_search(
    workload: Workload,
    memory: int,
    typical: np.ndarray,
    width: int,
    children: int,
    seed: int = 0,
    report: Callable[[float], None] = lambda share: None,
) -> np.ndarray:
    """(n,) int64 start rounds of a schedule of a backlog that keeps every KV cache.

    Parameters
    ----------
    typical : (n,) the starts of a reasonable schedule, which space the stages
    width, children : schedules kept, and tried from each
    report : is told the share done after each stage
    """
    guide, order = guide_of(workload, memory)
    ends = stage_ends(typical)
    starts = _search(guide, memory, ends, width, children, seed, report)
    start = np.empty(len(workload), np.int64)
    start[order] = starts
    return start


def _search(guide: Guide, memory: int, ends, width: int, children: int, seed: int, report):
    n = len(guide.prompt)
    groups = min(n, int(guide.output.max())) + 1
    kept, others = (empty_partials(width, n, groups) for _ in range(2))
    scratch: Partials = empty_partials(1, n, groups)
    many = 1
    for stage, until in enumerate(ends.tolist()):
        common = (until, children, seed, stage, guide, memory)
        losses = _judge_children(kept, many, scratch, *common)
        chosen = _distinct_best(losses, width)
        _keep(kept, chosen, others, *common)
        kept, others, many = others, kept, len(chosen)
        report((stage + 1) / len(ends))
    return kept.start[_finish(kept, many, guide, memory)].astype(np.int64)
