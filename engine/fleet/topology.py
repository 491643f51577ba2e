"""How many servers there are, and how requests get to them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Topology:
    """How many servers there are and how requests get to them.

    Attributes
    ----------
    replicas, routing : as in `run_replicas`
    pools, transfer : as in `run_pools`; None where every replica does everything
    """

    replicas: int = 1
    routing: str = "round-robin"
    pools: tuple[int, int] | None = None
    transfer: float = 0.0

    @property
    def servers(self) -> int:
        return sum(self.pools) if self.pools else self.replicas

    def alike(self, replicas: int) -> Topology:
        """So many replicas behind the same router."""
        return replace(self, replicas=replicas, pools=None, transfer=0.0)

    def __str__(self) -> str:
        if self.pools:
            prefill, decode = self.pools
            return f"prefill on {prefill}, decoding on {decode} replica{'s' * (decode > 1)}"
        return "1 replica" if self.replicas == 1 else f"{self.replicas} replicas, {self.routing}"


ONE_SERVER = Topology()
