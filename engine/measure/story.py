"""Why one request waited: its life in a run, told so that a person can check it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import wording
from engine.simulate.preempting import admission_limit
from engine.simulate.run import Run


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
    blocker : trace row of the first of those, which the walk stopped at; None if none
    blocker_obstacle : what kept that one out then
    overtakers : trace rows of the requests seen later that started no later, being before it
        in the order; by start
    first_in_line : the decision from which nobody before it in the order was waiting
    at_sight, in_line : what kept it out when seen and when first in line; None if nothing did
    start, finish : rounds
    waited, latency : clock units
    residencies : (begin, end, tokens held at the begin) of each period in memory
    """

    row: int
    prompt: int
    output: int
    arrival: float
    seen: int
    ahead: int
    blocker: int | None
    blocker_obstacle: Obstacle | None
    overtakers: tuple[int, ...]
    first_in_line: int
    at_sight: Obstacle | None
    in_line: Obstacle | None
    start: int
    finish: int
    waited: float
    latency: float
    residencies: tuple[tuple[int, int, int], ...]

    @property
    def preempted_at(self) -> tuple[int, ...]:
        """The rounds at whose end it lost its KV cache."""
        return tuple(end for _, end, _ in self.residencies[:-1])


def ranks(run: Run) -> np.ndarray:
    """(n,) position of each request in the order in which the policy considers them."""
    order = run.order
    if order is None:
        order = run.workload.ascending(run.workload.arrival)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def tell(run: Run, i: int) -> Story:
    """The story of request `i` (an index into the run's workload)."""
    workload, rank = run.workload, ranks(run)
    visible = run.seen
    start, seen = int(run.start[i]), int(visible[i])
    before = (rank < rank[i]) & (visible <= start)
    waiting_when_seen = np.flatnonzero(before & (visible <= seen) & (run.start > seen))
    blocker = _blocker(run, waiting_when_seen, rank)
    # Requests that came later may still have been considered first.
    overtook = before & (run.start <= start) & (run.start > seen)
    first_in_line = int(run.start[overtook].max()) if overtook.any() else seen
    later = np.flatnonzero(overtook & (visible > seen))
    later = later[np.argsort(run.start[later], kind="stable")]
    its_own = run.residencies.request == i
    residencies = zip(
        run.residencies.begin[its_own].tolist(),
        run.residencies.end[its_own].tolist(),
        run.residencies.held[its_own].tolist(),
        strict=True,
    )
    return Story(
        row=int(workload.row[i]),
        prompt=int(workload.prompt[i]),
        output=int(workload.output[i]),
        arrival=float(workload.arrival[i]),
        seen=seen,
        ahead=len(waiting_when_seen),
        blocker=None if blocker is None else int(workload.row[blocker]),
        blocker_obstacle=None if blocker is None else obstacle(run, blocker, seen, rank),
        overtakers=tuple(workload.row[later].tolist()),
        first_in_line=first_in_line,
        at_sight=obstacle(run, i, seen, rank) if start > seen else None,
        in_line=obstacle(run, i, first_in_line, rank) if start > first_in_line else None,
        start=start,
        finish=int(run.finish[i]),
        waited=float(run.started_at[i] - workload.arrival[i]),
        latency=float(run.latency[i]),
        residencies=tuple(residencies),
    )


def _blocker(run: Run, waiting: np.ndarray, rank: np.ndarray) -> int | None:
    """The request at which the walk stopped: the one after those that it may pass over."""
    if len(waiting) <= run.skip:
        return None
    return int(waiting[np.argsort(rank[waiting])[run.skip]])


def obstacle(run: Run, i: int, decision: int, rank: np.ndarray | None = None) -> Obstacle | None:
    """What keeps request `i` from starting at `decision`, after those that start before it.

    Under look-ahead admission that is the round, among the completions still to
    come and its own, that would overflow most; under admission on present use it is
    the very next round. None when it would fit: then the policy stopped its walk at
    an earlier request, or held back for another reason of its own.
    """
    rank = ranks(run) if rank is None else rank
    residencies = run.residencies
    owner = residencies.request
    begun = (residencies.begin < decision) | (
        (residencies.begin == decision) & (rank[owner] < rank[i])
    )
    here = np.flatnonzero(begun & (residencies.end > decision) & (owner != i))
    last = (
        residencies.end[here]
        if run.planned is None
        else _planned_ends(run, run.planned, here, decision)
    )
    if run.order is None:
        moments = np.array([decision + 1])
    else:
        output = run.workload.output if run.planned is None else run.planned
        end = decision + int(output[i])
        moments = np.append(np.unique(last[last <= end]), end)
    alive = last[None, :] >= moments[:, None]
    growth = residencies.grows[here] * (moments[:, None] - residencies.begin[here])
    used = (alive * (residencies.held[here] + growth)).sum(axis=1)
    over = used + run.workload.prompt[i] + moments - decision - _limit(run)
    worst = int(over.argmax())
    if over[worst] <= 0:
        return None
    alive_then = owner[here[last == moments[worst]]]
    ends = run.finish[alive_then] == moments[worst]
    completing = alive_then[ends | (run.planned is not None)]
    return Obstacle(
        decision=decision,
        full_at=int(moments[worst]),
        missing=int(over[worst]),
        finishing=tuple(run.workload.row[completing].tolist()),
    )


def _planned_ends(
    run: Run, planned_output: np.ndarray, here: np.ndarray, decision: int
) -> np.ndarray:
    """(k,) rounds in which the residencies at these indices were planned to end, as seen then."""
    residencies, workload = run.residencies, run.workload
    who, outputs = residencies.request[here], run.planned
    assert outputs is not None, "of a run that plans"
    held = residencies.held[here] + residencies.grows[here] * (decision - residencies.begin[here])
    generated = held - workload.prompt[who]
    room = run.memory - workload.prompt[who]
    planned = np.minimum(np.maximum(planned_output[who], generated + 1), room)
    return decision + planned - generated


def _limit(run: Run) -> int:
    """The tokens that plans may fill: M, less the margin of look-ahead that has one."""
    margin = run.params.get("margin", 0.0) if run.planned is not None else 0.0
    return admission_limit(run.memory, margin)


def in_words(story: Story, run: Run) -> list[str]:
    """The story as sentences, in order of time."""
    sentences = [
        f"**Request #{story.row}**: prompt {wording.tokens(story.prompt)}, output "
        f"{wording.tokens(story.output)}; at its end it holds "
        f"{wording.tokens(story.prompt + story.output)}.",
        f"Arrived at {_when(story.arrival, run)}; the decision at {_begin(story.seen, run)} is "
        "the first that knows it.",
    ]
    if story.start > story.seen and story.ahead:
        sentences += _why_others_first(story, run)
    elif story.first_in_line > story.seen:
        sentences.append(_why_not_at_sight(story, run))
    sentences += _overtaken(story, run)
    if story.first_in_line > story.seen and story.start > story.first_in_line:
        sentences.append(f"From {_begin(story.first_in_line, run)} on it was next.")
    if story.in_line:
        sentences.append(f"{_hindered('it', story.in_line, run)}.")
    elif story.start > story.first_in_line:
        sentences.append(_held_back(run))
    wait = f"{wording.moment(story.waited)} {run.unit}"
    sentences.append(f"Started at {_begin(story.start, run)}, after {wait} of waiting.")
    sentences += _losses(story, run)
    latency = f"{wording.moment(story.latency)} {run.unit}"
    sentences.append(f"Finished at {_end(story.finish, run)}: latency {latency}.")
    return sentences


def _when(moment: float, run: Run) -> str:
    """A point in time; a bare number is a round."""
    return wording.moment(moment) + ("" if run.timetable is None else f"{wording.THIN}s")


def _begin(decision: int, run: Run) -> str:
    """A decision, and where it is on an axis of seconds: 332.80 s (round 6 978)."""
    return _round(decision, float(run.begins(np.array(decision))), run)


def _end(finished: int, run: Run) -> str:
    """The end of a round, likewise."""
    return _round(finished, float(run.ends(np.array(finished))), run)


def _round(number: int, moment: float, run: Run) -> str:
    named = f"round {wording.count(number)}"
    return named if run.timetable is None else f"{_when(moment, run)} ({named})"


def _why_others_first(story: Story, run: Run) -> list[str]:
    """Who was before it in the order, and what kept that one out."""
    others = "1 request was" if story.ahead == 1 else f"{wording.count(story.ahead)} requests were"
    first = f"{others} waiting before it in {run.policy}'s order"
    if story.blocker is None:
        return [f"{first}."]
    sentences = [f"{first}, first of them #{story.blocker}."]
    if story.blocker_obstacle:
        sentences.append(f"{_hindered(f'#{story.blocker}', story.blocker_obstacle, run)}.")
    if story.at_sight is None:
        sentences.append(f"It would have fitted itself, but nobody passes #{story.blocker} here.")
    return sentences


def _why_not_at_sight(story: Story, run: Run) -> str:
    """What kept it out when it was seen with nobody before it."""
    if story.at_sight:
        return f"{_hindered('it', story.at_sight, run)}."
    return _held_back(run)


def _held_back(run: Run) -> str:
    left = ", or one that has left unserved since," if len(run.unserved) else ""
    return f"It would have fitted then; another rule of the policy{left} held it back."


def _overtaken(story: Story, run: Run) -> list[str]:
    """Who came later and went before it."""
    rows = story.overtakers
    if not rows:
        return []
    order = f"being before it in {run.policy}'s order"
    if len(rows) == 1:
        return [f"#{rows[0]} came later and went first, {order}."]
    return [
        f"{wording.count(len(rows))} requests came later and went first, {order}, the last of "
        f"them #{rows[-1]}."
    ]


def _hindered(who: str, obstacle: Obstacle, run: Run) -> str:
    """What starting `who` at that decision would have done to the memory."""
    rows = obstacle.finishing
    named = ", ".join(f"#{row}" for row in rows[:3]) + (" and others" if len(rows) > 3 else "")
    until = f", when {named} {'complete' if len(rows) > 1 else 'completes'}" if named else ""
    until += " as planned" if named and run.planned is not None else ""
    limit = _limit(run)
    most = f"M = {wording.count(limit)}"
    if limit < run.memory:
        most = f"the {wording.count(limit)} that the margin leaves of M"
    return (
        f"Had {who} started at {_begin(obstacle.decision, run)}, the memory would have "
        f"been {wording.tokens(obstacle.missing)} over {most} at the end "
        f"of round {wording.count(obstacle.full_at)}{until}"
    )


def _losses(story: Story, run: Run) -> list[str]:
    """Each time it lost its KV cache, and what that cost."""
    sentences = []
    for (_, lost, _), (back, _, refilled) in zip(
        story.residencies, story.residencies[1:], strict=False
    ):
        again = refilled - story.prompt
        sentences.append(
            f"Lost its KV cache after {_end(lost, run)}; came back at {_begin(back, run)} and "
            f"prefilled {wording.tokens(refilled)} again, "
            f"{wording.count(again)} of them generated before."
        )
    return sentences
