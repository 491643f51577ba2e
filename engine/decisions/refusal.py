"""Why a rule did not admit a request at a decision: one class a reason, with its numbers.

Requests are named by their rows in the trace, tokens by count. Each is a claim that can be
checked against the run and the rule alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OverPlan:
    """Look-ahead: at a completion to come the memory would pass what plans may fill.

    Attributes
    ----------
    full_at : the round at whose end it would
    missing : tokens over `limit` then
    limit : tokens that plans may fill
    finishing : rows of those in memory that complete in that round, as planned
    alone : those in memory would pass it without the request, which would be gone by then
    by_plan : the outputs reckoned with are not all the true ones
    """

    full_at: int
    missing: int
    limit: int
    finishing: tuple[int, ...]
    alone: bool = False
    by_plan: bool = False


@dataclass(frozen=True)
class OverUse:
    """Present use: the next round would need more than admission may fill.

    Attributes
    ----------
    used : tokens that the next round of those in memory needs
    more : tokens that the request would need in it
    limit : tokens that admission may fill
    block : tokens in a block, in which all are counted
    """

    used: int
    more: int
    limit: int
    block: int = 1

    @property
    def missing(self) -> int:
        return self.used + self.more - self.limit


@dataclass(frozen=True)
class OverReserve:
    """Reservations of those in memory, and of the request, pass M together by `missing`."""

    reserved: int
    more: int
    missing: int


@dataclass(frozen=True)
class OverBlocks:
    """Too few blocks are free for the tokens that must fit on admission.

    Attributes
    ----------
    more : blocks that these take
    left : blocks that are free, those kept left out
    block : tokens in a block
    kept : blocks that a watermark keeps
    """

    more: int
    left: int
    block: int
    kept: int = 0


@dataclass(frozen=True)
class OverPromises:
    """Of the blocks, `left` are promised to nobody, and the request would be promised `more`."""

    more: int
    left: int
    block: int


@dataclass(frozen=True)
class OverBatch:
    """A batch of `size` members with the request, each with room for `longest`, passes M."""

    size: int
    longest: int
    missing: int


@dataclass(frozen=True)
class BatchUnderWay:
    """A batch runs, and nobody joins it; `left` of its members have not finished."""

    left: int


@dataclass(frozen=True)
class AllSequences:
    """As many run as may run at once."""

    most: int


@dataclass(frozen=True)
class RoundFull:
    """The tokens of a round are taken.

    Attributes
    ----------
    most : tokens that a round may prefill and decode
    taken : tokens that others have in it
    more : tokens that the request would have added
    """

    most: int
    taken: int
    more: int


@dataclass(frozen=True)
class ChunksFull:
    """The tokens of a round are taken: `decoding` by requests that decode, the rest by prompts."""

    most: int
    decoding: int


@dataclass(frozen=True)
class RanOut:
    """Memory ran out, and nobody is admitted then.

    Attributes
    ----------
    count : how many requests lost their KV cache
    missing : tokens by which the next round would have passed M; None where that is not told
    """

    count: int
    missing: int | None = None


@dataclass(frozen=True)
class NoGroup:
    """A group is not complete: `have` of `size` wait, and its oldest not yet until `due`."""

    have: int
    size: int
    due: float


@dataclass(frozen=True)
class PlannedFor:
    """A schedule made beforehand starts it at round `start`."""

    start: int


Refusal = (
    OverPlan
    | OverUse
    | OverReserve
    | OverBlocks
    | OverPromises
    | OverBatch
    | BatchUnderWay
    | AllSequences
    | RoundFull
    | ChunksFull
    | RanOut
    | NoGroup
    | PlannedFor
)
