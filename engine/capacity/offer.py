"""What one policy carries, and what a load takes with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.capacity.rate import Capacity
from engine.capacity.servers import Servers


@dataclass(frozen=True)
class Offer:
    """A policy's answer to a planner.

    Attributes
    ----------
    capacity : of the servers that were asked about
    servers : for the load; None where that was not asked
    """

    capacity: Capacity
    servers: Servers | None = None

    @property
    def count(self) -> int | None:
        return self.servers.count if self.servers is not None else None

    @property
    def pools(self) -> tuple[int, int] | None:
        """How the servers for the load are split; None where all do everything."""
        return self.servers.pools if self.servers is not None else None


def best_first(offers: Sequence[Offer]) -> list[Offer]:
    """By descending rate, then fewest servers; those without a rate at the end."""
    return sorted(
        offers, key=lambda offer: (-(offer.capacity.rate or 0.0), offer.count or math.inf)
    )
