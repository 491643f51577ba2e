"""Why one request waited: its life in a run, told so that a person can check it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.simulate.run import Run, visible_rounds


@dataclass(frozen=True)
class Obstacle:
    """Why a request could not start at a decision.

    Attributes
    ----------
    decision : the round at whose start it was tried
    full_at : the round whose end would have overflowed
    missing : tokens over the limit in that round
    finishing : trace rows of the requests that complete in that round, if any do
    """

    decision: int
    full_at: int
    missing: int
    finishing: tuple[int, ...]


@dataclass(frozen=True)
class Story:
    """A request from arrival to finish.

    Attributes
    ----------
    row, prompt, output : which request
    arrival : clock units
    seen : the first decision that knew it
    ahead : requests that were waiting before it in the policy's order when it was seen
    first_in_line : the decision from which nobody before it in the order was waiting
    at_sight, in_line : what kept it out when seen and when first in line; None if nothing did
    start, finish : rounds
    stays : (begin, end, tokens prefilled) of each period in memory
    """

    row: int
    prompt: int
    output: int
    arrival: float
    seen: int
    ahead: int
    first_in_line: int
    at_sight: Obstacle | None
    in_line: Obstacle | None
    start: int
    finish: int
    stays: tuple[tuple[int, int, int], ...]

    @property
    def preempted_at(self) -> tuple[int, ...]:
        """The rounds at whose end it lost its KV cache."""
        return tuple(end for _, end, _ in self.stays[:-1])


def _rank(run: Run) -> np.ndarray:
    """(n,) position of each request in the order in which the policy considers them."""
    order = run.order
    if order is None:
        order = run.workload.ascending(run.workload.arrival)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def tell(run: Run, i: int) -> Story:
    """The story of request `i` (an index into the run's workload)."""
    workload, rank = run.workload, _rank(run)
    visible = visible_rounds(workload.arrival)
    start, seen = int(run.start[i]), int(visible[i])
    before = (rank < rank[i]) & (visible <= start)
    waiting_when_seen = before & (visible <= seen) & (run.start > seen)
    # Requests that came later may still have been considered first.
    overtook = before & (run.start <= start) & (run.start > seen)
    first_in_line = int(run.start[overtook].max()) if overtook.any() else seen
    mine = run.stays.request == i
    stays = zip(
        run.stays.begin[mine].tolist(),
        run.stays.end[mine].tolist(),
        run.stays.held[mine].tolist(),
        strict=True,
    )
    return Story(
        row=int(workload.row[i]),
        prompt=int(workload.prompt[i]),
        output=int(workload.output[i]),
        arrival=float(workload.arrival[i]),
        seen=seen,
        ahead=int(waiting_when_seen.sum()),
        first_in_line=first_in_line,
        at_sight=obstacle(run, i, seen, rank) if start > seen else None,
        in_line=obstacle(run, i, first_in_line, rank) if start > first_in_line else None,
        start=start,
        finish=int(run.finish[i]),
        stays=tuple(stays),
    )


def obstacle(run: Run, i: int, decision: int, rank: np.ndarray | None = None) -> Obstacle | None:
    """What keeps request `i` from starting at `decision`, after those that start before it.

    Under look-ahead admission that is the round, among the completions still to
    come and its own, that would overflow most; under admission on present use it is
    the very next round. None when it would fit: then the policy stopped its walk at
    an earlier request, or held back for another reason of its own.
    """
    rank = _rank(run) if rank is None else rank
    stays = run.stays
    owner = stays.request
    begun = (stays.begin < decision) | ((stays.begin == decision) & (rank[owner] < rank[i]))
    here = np.flatnonzero(begun & (stays.end > decision) & (owner != i))
    last = stays.end[here]
    if run.order is None:
        moments = np.array([decision + 1])
    else:
        end = decision + int(run.workload.output[i])
        moments = np.append(np.unique(last[last <= end]), end)
    held = stays.held[here] - stays.begin[here]
    alive = last[None, :] >= moments[:, None]
    used = (alive * (held[None, :] + moments[:, None])).sum(axis=1)
    over = used + run.workload.prompt[i] + moments - decision - run.memory
    worst = int(over.argmax())
    if over[worst] <= 0:
        return None
    alive_then = owner[here[last == moments[worst]]]
    completing = alive_then[run.finish[alive_then] == moments[worst]]
    return Obstacle(
        decision=decision,
        full_at=int(moments[worst]),
        missing=int(over[worst]),
        finishing=tuple(run.workload.row[completing].tolist()),
    )


def in_words(story: Story, run: Run) -> list[str]:
    """The story as sentences, in order of time."""
    told = [
        f"**Request #{story.row}**: prompt {wording.tokens(story.prompt)}, output "
        f"{wording.tokens(story.output)}; it holds {wording.tokens(story.prompt + story.output)} "
        "at its end.",
        f"Arrived at {wording.time(story.arrival)}, known from round {wording.count(story.seen)}."
        + (f" {wording.count(story.ahead)} waiting before it in the order." if story.ahead else ""),
    ]
    if story.at_sight and story.first_in_line > story.seen:
        told.append(_obstacle_in_words(story.at_sight, run))
    if story.first_in_line > story.seen:
        told.append(f"First in line from round {wording.count(story.first_in_line)}.")
    if story.in_line:
        told.append(_obstacle_in_words(story.in_line, run))
    elif story.start > story.first_in_line:
        told.append("It would have fitted into M then; the policy held it back by another rule.")
    wait = wording.time(story.start - story.arrival)
    told.append(f"Started at round {wording.count(story.start)}, after {wait} rounds of waiting.")
    for (_, lost, held), (back, _, refilled) in zip(story.stays, story.stays[1:], strict=False):
        told.append(
            f"Lost its KV cache after round {wording.count(lost)}; came back at round "
            f"{wording.count(back)} and prefilled {wording.tokens(refilled)} again, "
            f"{wording.count(refilled - story.prompt)} of them generated before."
            if refilled > held
            else f"Lost its KV cache after round {wording.count(lost)}; came back at round "
            f"{wording.count(back)}."
        )
    latency = wording.time(story.finish - story.arrival)
    told.append(f"Finished at round {wording.count(story.finish)}: latency {latency} rounds.")
    return told


def _obstacle_in_words(obstacle: Obstacle, run: Run) -> str:
    rows = obstacle.finishing
    named = ", ".join(f"#{row}" for row in rows[:3]) + (" and others" if len(rows) > 3 else "")
    when = f"at the end of round {wording.count(obstacle.full_at)}"
    if named:
        when += f", when {named} {'complete' if len(rows) > 1 else 'completes'},"
    return (
        f"Started at round {wording.count(obstacle.decision)}, it would have needed "
        f"{wording.tokens(obstacle.missing)} more than M = {wording.count(run.memory)} {when}"
        + ("" if named else " in all.")
        + (" so it waited." if named else "")
    )
