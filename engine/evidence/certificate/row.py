"""What every bound of a certificate says of itself, whatever proves it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.bound_method import MAX_REPLICAS
from engine.errors import InputError
from engine.fields import hold_number, number_in

MAX_VALUE = 1e30  # clock units


@dataclass(frozen=True)
class Row:
    """A bound as it is written: InputError where a field is not what it must be."""

    bound: str
    value: float
    covers_preemption: bool
    replicas: int

    def __post_init__(self) -> None:
        if not isinstance(self.bound, str):
            raise InputError(f"bound must be a name, got {self.bound!r}")
        if not isinstance(self.covers_preemption, bool):
            raise InputError(
                f"covers_preemption must be true or false, got {self.covers_preemption!r}"
            )
        number_in("value", self.value, -MAX_VALUE, MAX_VALUE)  # as claimed: not rounded
        hold_number(self, "replicas", 1, MAX_REPLICAS, whole=True)
