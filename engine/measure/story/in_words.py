"""A story as sentences, in order of time."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from engine import wording
from engine.decisions.account import Reason
from engine.decisions.refusal import (
    AllSequences,
    BatchUnderWay,
    ChunksFull,
    NoGroup,
    OverBatch,
    OverBlocks,
    OverPlan,
    OverPromises,
    OverReserve,
    OverUse,
    PlannedFor,
    RanOut,
    RoundFull,
)
from engine.measure.story.tell import LostCache, Story
from engine.simulate.run import Run

NAMED = 3  # as many of several requests are named


def in_words(story: Story, run: Run) -> list[str]:
    """The story as sentences, in order of time."""
    sentences = [
        f"**Request #{story.row}**: prompt {wording.tokens(story.prompt)}, output "
        f"{wording.tokens(story.output)}; at its end it holds "
        f"{wording.tokens(story.prompt + story.output)}.",
        f"Arrived at {_when(story.arrival, run)}; the decision at {_begin(story.seen, run)} is "
        "the first that knows it.",
    ]
    at_sight = story.at_sight and story.at_sight.refusal
    if story.start > story.seen:
        sentences += _reason(story.at_sight, story.seen, run)
    sentences += _overtaken(story, run)
    if story.start - 1 > story.seen and not isinstance(at_sight, PlannedFor):
        sentences += _reason(story.at_last, story.start - 1, run)
    waited = wording.lasting(story.waited, run.unit)
    sentences.append(f"Started at {_begin(story.start, run)}, after {waited} of waiting.")
    sentences += _in_memory(story, run)
    latency = wording.lasting(story.latency, run.unit)
    sentences.append(f"Finished at {_end(story.finish, run)}: latency {latency}.")
    if story.freed:
        sentences.append(
            f"Its memory was free at {_end(story.freed, run)}, when the whole batch had finished."
        )
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


def _overtaken(story: Story, run: Run) -> list[str]:
    """Who came later and went before it."""
    rows = story.overtakers
    if not rows:
        return []
    order = f", being before it in {run.policy}'s order" if story.by_rank and run.policy else ""
    last = f", the last of them to start #{rows[-1]}" if len(rows) > 1 else ""
    who = f"#{rows[0]}" if len(rows) == 1 else wording.counted(len(rows), "request")
    return [f"{who} came later and started before it{order}{last}."]


def _reason(reason: Reason | None, at: int, run: Run) -> list[str]:
    """Who was before it, what kept that one or itself out, and whether that was all."""
    when = _begin(at, run)
    if reason is None:
        return [f"What kept it out at {when} is not told."]
    who = "it" if reason.blocker is None else f"#{reason.blocker}"
    sentences = _before(reason, when, run)
    sentences.append(f"{_refused(reason.refusal, who, when, run)}.")
    if reason.fitted:
        sentences.append("It would have fitted itself, but was not tried after that.")
    return sentences


def _before(reason: Reason, when: str, run: Run) -> list[str]:
    """The queue before it at a decision, and how far the walk came."""
    if reason.first is None:
        return []
    order = f" in {run.policy}'s order" if run.policy else ""
    if reason.ahead is None:
        queue = f"At {when}, #{reason.first} came before it{order}"
    else:
        others = f"{wording.counted(reason.ahead, 'request')} were"
        first = f", first of them #{reason.first}"
        if reason.ahead == 1:
            others, first = f"#{reason.first} was", ""
        queue = f"At {when}, {others} waiting before it{order}{first}"
    if not reason.skip:
        return [f"{queue}."]
    passed = f"{wording.count(reason.skip)} that did not fit" if reason.skip > 1 else "it"
    stop = f", and stopped at #{reason.blocker}" if reason.blocker is not None else ""
    return [f"{queue}; the walk passed over {passed}{stop}."]


@singledispatch
def _refused(refusal, who: str, when: str, run: Run) -> str:
    """What kept a request out, `when` it was tried."""
    raise NotImplementedError(type(refusal))


@_refused.register
def _(refusal: OverPlan, who: str, when: str, run: Run) -> str:
    rows = refusal.finishing
    named = ", ".join(f"#{row}" for row in rows[:NAMED]) + (" and others" if rows[NAMED:] else "")
    by_plan = " as planned" if refusal.by_plan else ""
    until = f", when {named} {'complete' if len(rows) > 1 else 'completes'}" if rows else ""
    most = f"M = {wording.count(refusal.limit)}"
    if refusal.limit < run.memory:
        most = f"the {wording.count(refusal.limit)} that the margin leaves of M"
    over = f"{wording.tokens(refusal.missing)} over {most}"
    at = f"at the end of round {wording.count(refusal.full_at)}{until}{by_plan}"
    if refusal.alone:
        return f"At {when} nobody could start: even so the memory was to be {over} {at}"
    return f"Had {who} started at {when}, the memory would have been {over} {at}"


@_refused.register
def _(refusal: OverUse, who: str, when: str, run: Run) -> str:
    blocks = f" in blocks of {wording.count(refusal.block)}" if refusal.block > 1 else ""
    most = f"M = {wording.count(refusal.limit)}"
    if refusal.limit < run.memory // refusal.block * refusal.block:
        most = f"the {wording.count(refusal.limit)} that admission may fill"
    elif refusal.limit < run.memory:
        most = f"the {wording.count(refusal.limit)} of M in whole blocks"
    return (
        f"Had {who} started at {when}, the next round would have needed "
        f"{wording.tokens(refusal.used + refusal.more)}{blocks}, "
        f"{wording.count(refusal.missing)} over {most}"
    )


@_refused.register
def _(refusal: OverReserve, who: str, when: str, run: Run) -> str:
    return (
        f"At {when} those in memory had reserved {wording.tokens(refusal.reserved)} and {who} "
        f"would have reserved {wording.count(refusal.more)}, together "
        f"{wording.count(refusal.missing)} over M = {wording.count(run.memory)}"
    )


@_refused.register
def _(refusal: OverBlocks, who: str, when: str, run: Run) -> str:
    kept = f" (the watermark keeps {wording.count(refusal.kept)})" if refusal.kept else ""
    return (
        f"At {when} {who} needed {_blocks(refusal.more, refusal.block)}, and "
        f"{_were(refusal.left)} free{kept}"
    )


@_refused.register
def _(refusal: OverPromises, who: str, when: str, run: Run) -> str:
    return (
        f"At {when} {who} would have been promised {_blocks(refusal.more, refusal.block)}, and "
        f"{_were(refusal.left)} promised to nobody"
    )


def _were(count: int) -> str:
    return f"{wording.count(max(0, count))} {'was' if count == 1 else 'were'}"


def _blocks(count: int, size: int) -> str:
    return f"{wording.counted(count, 'block')} of {wording.counted(size, 'token')}"


@_refused.register
def _(refusal: OverBatch, who: str, when: str, run: Run) -> str:
    return (
        f"With {who} the batch formed at {when} would have been {wording.count(refusal.size)} "
        f"requests with room for {wording.tokens(refusal.longest)} of output each, "
        f"{wording.tokens(refusal.missing)} over M = {wording.count(run.memory)}"
    )


@_refused.register
def _(refusal: BatchUnderWay, who: str, when: str, run: Run) -> str:
    had = "has" if refusal.left == 1 else "have"
    members = wording.counted(refusal.left, "request")
    return f"At {when} nobody joins a batch under way, of which {members} {had} not finished"


@_refused.register
def _(refusal: AllSequences, who: str, when: str, run: Run) -> str:
    return f"At {when} max_num_seqs = {wording.count(refusal.most)} left no place for {who}"


@_refused.register
def _(refusal: RoundFull, who: str, when: str, run: Run) -> str:
    return (
        f"At {when} the round had {wording.count(refusal.taken)} of at most "
        f"{wording.tokens(refusal.most)}, and {who} would have added {wording.count(refusal.more)}"
    )


@_refused.register
def _(refusal: ChunksFull, who: str, when: str, run: Run) -> str:
    decoding = wording.counted(refusal.decoding, "request")
    return (
        f"At {when} nothing was left for {who} of the round's {wording.tokens(refusal.most)}, with "
        f"{decoding} decoding before prompts take the rest"
    )


@_refused.register
def _(refusal: RanOut, who: str, when: str, run: Run) -> str:
    over = f", {wording.tokens(refusal.missing)} short" if refusal.missing else ""
    lost = wording.counted(refusal.count, "request")
    their = "its" if refusal.count == 1 else "their"
    return f"At {when} memory ran out{over}, {lost} lost {their} KV cache, and nobody was admitted"


@_refused.register
def _(refusal: NoGroup, who: str, when: str, run: Run) -> str:
    were = "was" if refusal.have == 1 else "were"
    return (
        f"At {when}, {wording.count(refusal.have)} of the {wording.count(refusal.size)} that start "
        f"together {were} waiting, the oldest for others until {_when(refusal.due, run)} at most"
    )


@_refused.register
def _(refusal: PlannedFor, who: str, when: str, run: Run) -> str:
    start = _begin(refusal.start, run)
    return f"The plan, made beforehand for all requests, starts {who} at {start}"


def _in_memory(story: Story, run: Run) -> list[str]:
    """What happened between its start and its finish."""
    sentences = []
    if story.prefilled:
        sentences.append(
            f"Its prompt was prefilled in chunks; the first token came at "
            f"{_end(story.prefilled, run)}."
        )
    if story.pauses:
        begin, end = story.pauses[0]
        more = len(story.pauses) - 1
        others = f", and {wording.counted(more, 'more time')}" if more else ""
        sentences.append(
            f"Paused at {_end(begin, run)} until {_begin(end, run)}, its KV cache kept{others}."
        )
    for loss in story.losses:
        sentences += _lost(loss, run)
    if story.more_losses:
        times = wording.counted(story.more_losses, "more time")
        sentences.append(f"Lost its KV cache {times} after that.")
    return sentences


def _lost(loss: LostCache, run: Run) -> list[str]:
    """One loss of its KV cache, what that cost, and what kept it out until it came back."""
    end, back = _end(loss.lost, run), _begin(loss.back, run)
    if loss.swapped:
        sentence = f"Swapped out after {end} with {wording.tokens(loss.refilled)}; back at {back}."
    elif loss.kept:
        sentence = (
            f"Lost its KV cache after {end}; came back at {back} and had "
            f"{wording.tokens(loss.refilled)} to prefill again, "
            f"{wording.count(loss.generated)} of them generated before."
        )
    else:
        sentence = (
            f"Started over: its KV cache and {wording.tokens(loss.generated)} that it had "
            f"generated were lost after {end}; came back at {back}."
        )
    return [sentence] + (_reason(loss.refused, loss.back - 1, run) if loss.back > loss.lost else [])
