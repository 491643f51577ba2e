"""What keeps a rate from being larger: a resource of the server, a limit, or lost requests."""

from __future__ import annotations

from dataclasses import dataclass

from engine.capacity.shortfall import Shortfall
from engine.measure.need import COMPUTE, MEMORY, PACKING, RESERVED, SEQUENCES, TOKENS

UNSERVED = "unserved"
RESOURCES = {
    MEMORY: "the memory",
    COMPUTE: "the GPU's time",
    PACKING: "the memory, as large requests keep others out of it",
    SEQUENCES: "the number of requests at once (max_num_seqs)",
    TOKENS: "the tokens a round",
    RESERVED: "the memory, as it is kept for outputs to come",
}
LIMITED = {
    "ttft": "time to first token",
    "tpot": "time per output token",
    "latency": "end-to-end latency",
}


@dataclass(frozen=True)
class Binding:
    """What binds.

    Attributes
    ----------
    kind : a resource of engine/measure/need.py, a limited time (`ttft`, `tpot`, `latency`), or
        UNSERVED where too many give up or are turned away
    of_class : whose limit it is; empty for all requests
    """

    kind: str
    of_class: str = ""

    def in_words(self, percent: float) -> str:
        """`the memory`, or `P99 time to first token of short`."""
        if self.kind in RESOURCES:
            return RESOURCES[self.kind]
        if self.kind == UNSERVED:
            return "requests that give up or are turned away"
        of = f" of {self.of_class}" if self.of_class else ""
        return f"P{percent:g} {LIMITED[self.kind]}{of}"


def binding_limit(short: Shortfall) -> Binding:
    """The limit that is missed most just above the rate; UNSERVED where none is."""
    if not short.misses:
        return Binding(UNSERVED)
    worst = short.misses[0]
    return Binding(worst.name, worst.of_class)
