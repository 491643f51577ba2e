"""The numbers of a policy that a user may set: what one is, and those that policies share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.fields import number_in, number_of


@dataclass(frozen=True)
class Param:
    """One number a user may set: its default decides whether it is whole.

    Attributes
    ----------
    name, default, low, high : the name and the closed range
    help : one sentence with the unit
    """

    name: str
    default: float
    low: float
    high: float
    help: str

    @property
    def is_whole(self) -> bool:
        return isinstance(self.default, int)

    def read(self, value, policy: str) -> float:
        """A text or number as a value in range; InputError otherwise."""
        place = f"parameter {policy}.{self.name}"
        return number_in(place, number_of(value), self.low, self.high, whole=self.is_whole)

    def starting_at(self, default: float, help: str | None = None) -> Param:
        """The same parameter where a policy has another default, and may say so."""
        return replace(self, default=default, help=self.help if help is None else help)


SKIP = Param(
    "skip", 0, 0, 1000, "How many waiting requests that do not fit a walk may pass over (0: none)."
)
MARGIN = Param(
    "margin",
    0.0,
    0.0,
    0.9,
    "Share of M that plans leave free, for outputs that turn out longer than predicted.",
)
WATERMARK = Param("watermark", 0.01, 0.0, 0.9, "Share of M that admission leaves free.")
NO_WATERMARK = WATERMARK.starting_at(
    0.0, "Share of M that admission leaves free (0.01 is vLLM's own value)."
)
ALPHA = Param("alpha", 0.1, 0.0, 0.99, "Share of M that admission leaves free for growth.")
MAX_NUM_SEQS = Param("max_num_seqs", 256, 1, 10**6, "How many requests may run at once.")
BLOCK = Param("block_size", 1, 1, 10**6, "Tokens in a block of KV cache (16 in vLLM).")
TRANSFER = Param(
    "transfer", 0.0, 0.0, 1.0, "Seconds to move one token's KV cache, on the seconds clock."
)
MAX_WAIT = Param(
    "max_wait", 30.0, 0.0, 1e9, "Time in clock units after which a request waits for no group."
)
GRIDS = Param("grids", 2, 1, 4, "How often to refine the grid of the relaxation.")
