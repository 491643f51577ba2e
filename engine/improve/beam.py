"""A beam over time: many random schedules up to each stage's end, of which the best go on.

Each kept schedule has children that run on to the end of the stage, the first by plain
first fit, the others with a random taste. A child is judged by its loss once first fit has
gone on from there to the next stage's end (what it left for later shows only then) plus
the least loss still to come; the best go on from the stage's end. A child is remembered by
its seed and run again if it is kept, so that only kept schedules are copied.

Every stage gets the same share of the work and has as many children as that pays for. In the
first rounds, where a backlog of short requests starts, a child costs a hundred times what
it costs later, and little can be lost there: with a number of children for all stages most
work would go where it gains least.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from engine.compiled import kernel, part
from engine.improve.guide import Guide, guide_of
from engine.improve.partial import (
    AT_ONCE,
    FIRST_FIT,
    NO_END,
    Partials,
    Taste,
    copy_partial,
    empty_partials,
    least_loss_to_come,
    run_until,
)
from engine.simulate.random_stream import seeded, uniform
from engine.workload import Workload

STARTS_A_STAGE = 4
ROUNDS_A_STAGE = 30
MOST_STAGES = 500
MOST_CHILDREN = 20_000  # a stage
MOST_KEPT = 100  # schedules
LEAST_CHILDREN = 8  # a stage; with work for fewer a beam is no use
DEARER = 10  # times the work of plain first fit, that a child takes


@part
def _taste_of(child, stream):
    """Plain first fit for child 0; for the others first fit, snug fit or noise, at random."""
    if child == 0:
        return FIRST_FIT
    window = int(1 + 3 * 2 ** (5 * uniform(stream)))
    kind = uniform(stream)
    eager = AT_ONCE if uniform(stream) < 0.5 else 10 ** (3 * uniform(stream) - 1)
    if kind < 0.25:
        return Taste(window, 0.0, 0.0, 0.3 * uniform(stream), AT_ONCE)
    if kind < 0.75:
        snug = 10 ** (2 * uniform(stream) - 2)
        noise = 10 * uniform(stream)
        pass_over = 0.3 * uniform(stream) if uniform(stream) < 0.5 else 0.0
        return Taste(window, snug, noise, pass_over, eager)
    return Taste(window, 0.0, window * uniform(stream), 0.0, eager)


@part
def _run_child(partials, b, until, seed, stage, parent, child, guide, memory):
    stream = seeded(seed, stage, parent, child)
    return run_until(partials, b, until, _taste_of(child, stream), stream, guide, memory)


@kernel
def _judge_children(kept, many, scratch, until, beyond, share, losses, seed, stage, guide, memory):
    """The loss at which each child can still end, as judged, into `losses`: of as many children
    as the share of work pays for, and two of each parent. Returns how many, and the work."""
    no_stream = seeded(0)
    count, work = 0, 0
    while count < losses.size and (work < share or count < 2 * many):
        parent, child = count % many, count // many
        copy_partial(kept, parent, scratch, 0, False)
        work += guide.prompt.size
        work += _run_child(scratch, 0, until, seed, stage, parent, child, guide, memory)
        work += run_until(scratch, 0, beyond, FIRST_FIT, no_stream, guide, memory)
        losses[count] = scratch.loss[0] + least_loss_to_come(scratch, 0, guide)
        count += 1
    return count, work


@kernel
def _keep(kept, many, chosen, others, until, seed, stage, guide, memory):
    """Run the chosen children again, each from its parent into a place of its own."""
    for place in range(chosen.size):
        parent, child = chosen[place] % many, chosen[place] // many
        copy_partial(kept, parent, others, place, True)
        _run_child(others, place, until, seed, stage, parent, child, guide, memory)


@kernel
def _finish(kept, many, guide, memory):
    """Run every kept schedule to its end by first fit; the one with the least starts."""
    no_stream = seeded(0)
    best, least = 0, np.iinfo(np.int64).max
    for b in range(many):
        run_until(kept, b, NO_END, FIRST_FIT, no_stream, guide, memory)
        total = kept.start[b].astype(np.int64).sum()
        if total < least:
            best, least = b, total
    return best


def _distinct_best(losses: np.ndarray) -> np.ndarray:
    """The indices of the least losses that differ: equal ones are the same schedule.

    As many schedules go on as each then has twice that number of children.
    """
    width = max(2, round(math.sqrt(len(losses) / 2)))
    _, first = np.unique(np.round(losses, 7), return_index=True)
    return first[: min(width, MOST_KEPT)]


def stage_ends(start: np.ndarray) -> np.ndarray:
    """(stages,) rounds: so many starts of a typical schedule apart, and not too close."""
    starts = max(STARTS_A_STAGE, len(start) // MOST_STAGES)
    ends = [0]
    for end in np.sort(start)[starts::starts].tolist():
        if end - ends[-1] >= ROUNDS_A_STAGE:
            ends.append(end)
    return np.array(ends[1:], np.int64)


def beam_search(
    workload: Workload,
    memory: int,
    typical: np.ndarray,
    work: float,
    seed: int = 0,
    report: Callable[[float], None] = lambda share: None,
) -> np.ndarray | None:
    """(n,) int64 start rounds of a schedule of a backlog that keeps every KV cache.

    None where the work does not pay for enough children.

    Parameters
    ----------
    typical : (n,) the starts of a reasonable schedule, which space the stages
    work : how much to do, in steps of a nanosecond or so
    report : takes the share done after each stage
    """
    guide, order = guide_of(workload, memory)
    plain = _room(guide, 1)
    if work < LEAST_CHILDREN * DEARER * _first_fit(plain, guide, memory):
        return None
    start = np.empty(len(workload), np.int64)
    start[order] = _search(guide, memory, stage_ends(typical), work, seed, report)
    return start


def _room(guide: Guide, many: int) -> Partials:
    n = len(guide.prompt)
    return empty_partials(many, n, min(n, int(guide.output.max())) + 1)


@kernel
def _first_fit(partials, guide, memory):
    """The work of plain first fit from beginning to end."""
    return run_until(partials, 0, NO_END, FIRST_FIT, seeded(0), guide, memory)


def _search(guide: Guide, memory: int, ends: np.ndarray, work: float, seed: int, report):
    kept, others, scratch = (_room(guide, many) for many in (MOST_KEPT, MOST_KEPT, 1))
    losses = np.empty(MOST_CHILDREN)
    many, left = 1, work
    for stage, until in enumerate(ends.tolist()):
        share = left / (len(ends) - stage)
        beyond = ends[min(stage + 1, len(ends) - 1)]
        common = (seed, stage, guide, memory)
        count, done = _judge_children(kept, many, scratch, until, beyond, share, losses, *common)
        chosen = _distinct_best(losses[:count])
        _keep(kept, many, chosen, others, until, *common)
        kept, others, many = others, kept, len(chosen)
        left -= done
        report((stage + 1) / len(ends))
    return kept.start[_finish(kept, many, guide, memory)].astype(np.int64)
