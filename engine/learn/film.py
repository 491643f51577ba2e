"""A small run as a film: what every round's end holds, who waits, and what blocks the first.

One frame a decision: frame t stands between round t and round t + 1. It has the memory at the
end of every round up to t, and what is planned for those to come if nobody else is admitted.
Where the policy looks ahead, it also has the check of the first request that does not fit:
its own tokens on top of the plan, and the round in which both together would overflow M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.decisions.refusal import OverPlan
from engine.measure.story import obstacle, waiting_at
from engine.simulate.run import Run

NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class FilmCheck:
    """The look-ahead check of a waiting request that does not fit.

    Attributes
    ----------
    head : its index
    holds : (o,) int64, tokens it would hold at the end of the rounds to come
    obstacle : where that would overflow, and by how much
    """

    head: int
    holds: np.ndarray
    obstacle: OverPlan


@dataclass(frozen=True, eq=False)
class Frame:
    """The state between two rounds.

    Attributes
    ----------
    starting, running, waiting : indices; those that start now, those that began earlier, and
        those that have arrived and are not in memory, in the policy's order
    dropped : of those that wait, the ones that were in memory in the round before
    planned : (k,) int64, tokens at the end of each round to come from those in memory, up to
        the last of them, if nobody else is admitted; empty where nobody looks ahead
    check : of the first that does not fit; None where nobody waits or nobody looks ahead
    """

    starting: tuple[int, ...]
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    dropped: tuple[int, ...]
    planned: np.ndarray
    check: FilmCheck | None


@dataclass(frozen=True, eq=False)
class Film:
    """A run, frame by frame.

    Attributes
    ----------
    run : the run
    held : (rounds + 1, n) int64, tokens of each request at the end of each round
    frames : one a decision, 0 to the last round
    """

    run: Run
    held: np.ndarray
    frames: Sequence[Frame]

    @property
    def rounds(self) -> int:
        return len(self.held) - 1

    def in_words(self, t: int) -> str:
        """Frame `t` in two or three sentences."""
        frame, row, memory = self.frames[t], self.run.workload.row, self.run.memory
        sentences = [
            f"After round {t}: {wording.count(self.held[t].sum())} of {wording.tokens(memory)} "
            "in use."
        ]
        if frame.dropped:
            lose = "lose their" if len(frame.dropped) > 1 else "loses its"
            sentences.append(f"{_names(row[list(frame.dropped)])} {lose} KV cache.")
        if frame.starting:
            sentences.append(f"{_names(row[list(frame.starting)])} start{_s(frame.starting)} now.")
        if frame.check:
            o = frame.check.obstacle
            by = f", when {_names(np.array(o.finishing))} ends" if len(o.finishing) == 1 else ""
            sentences.append(
                f"#{row[frame.check.head]} does not fit: it would be "
                f"{wording.tokens(o.missing)} over M at the end of round {o.full_at}{by}."
            )
        elif frame.waiting:
            sentences.append(f"{_names(row[list(frame.waiting)])} wait{_s(frame.waiting)}.")
        if t == self.rounds:
            total = wording.total(float(self.run.latency.sum()))
            sentences.append(
                f"All done: total latency {total} {wording.in_number(total, self.run.unit)}."
            )
        return " ".join(sentences)


def _s(subjects: Sequence) -> str:
    return "s" if len(subjects) == 1 else ""


def _names(rows: np.ndarray, most: int = 6) -> str:
    named = ", ".join(f"#{row}" for row in rows[:most].tolist())
    more = len(rows) - most
    return f"{named} and {more} more" if more > 0 else named


def film(run: Run) -> Film:
    """The run of a single server as a film."""
    residencies, rounds = run.residencies, int(run.residencies.end.max())
    ends = np.arange(rounds + 1)[:, None]
    alive = (ends > residencies.begin) & (ends <= residencies.end)
    by_residency = alive * (residencies.held + residencies.grows * (ends - residencies.begin))
    frames = [_frame(run, by_residency, t) for t in range(rounds + 1)]
    return Film(run, _of_requests(run, by_residency), frames)


def _of_requests(run: Run, by_residency: np.ndarray) -> np.ndarray:
    """Columns of residencies added up to columns of requests."""
    held = np.zeros((len(by_residency), len(run.workload)), np.int64)
    np.add.at(held.T, run.residencies.request, by_residency.T)
    return held


def _frame(run: Run, by_residency: np.ndarray, t: int) -> Frame:
    residencies, n = run.residencies, len(run.workload)
    begun = residencies.begin <= t
    inside = begun & (residencies.end > t)
    before = np.zeros(n, bool)
    before[residencies.request[begun & (residencies.begin < t) & (residencies.end >= t)]] = True
    here = np.zeros(n, bool)
    here[residencies.request[inside]] = True
    queue = waiting_at(run, t)
    return Frame(
        starting=tuple(np.flatnonzero(here & ~before).tolist()),
        running=tuple(np.flatnonzero(here & before).tolist()),
        waiting=tuple(queue.tolist()),
        dropped=tuple(i for i in queue.tolist() if before[i]),
        planned=_planned(by_residency[t + 1 :, begun].sum(axis=1))
        if _looks_ahead(run)
        else NOTHING,
        check=_check(run, queue, t),
    )


def _looks_ahead(run: Run) -> bool:
    """Whether the policy plans with the ends of those that run, and the plan holds."""
    return run.order is not None and not run.gave_up_kv


def _planned(tokens: np.ndarray) -> np.ndarray:
    """Without the empty rounds at the end."""
    return tokens[: int(np.count_nonzero(tokens))]


def _check(run: Run, queue: np.ndarray, t: int) -> FilmCheck | None:
    """The first in the queue that has an obstacle."""
    if not _looks_ahead(run):
        return None
    for i in queue[: run.skip + 1].tolist():
        blocked = obstacle(run, i, t)
        if blocked:
            holds = run.workload.prompt[i] + 1 + np.arange(run.workload.output[i])
            return FilmCheck(i, holds, blocked)
    return None
