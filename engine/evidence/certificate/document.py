"""A certificate as a text: which requests, which machine, and the bounds with their proofs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.admission_limits import LONGEST_MODEL_LEN, AdmissionLimits
from engine.bound import Bound
from engine.errors import InputError
from engine.evidence.certificate import rounds, seconds
from engine.evidence.certificate.finding import Checked
from engine.fields import build, hold_number, list_in
from engine.machine.clock import ROUNDS, Clock, seconds_clock
from engine.workload import Workload, check_memory, set_aside

FORMAT = "headroom certificate 2"
COEFFICIENTS = ("c0", "c1", "N0", "c2", "c3")


@dataclass(frozen=True)
class _Certificate:
    """A certificate as it is written; on the rounds clock there are no coefficients."""

    format: str
    workload: str
    requests: int
    memory: int
    bounds: list[Any]
    coefficients: Any = None
    max_model_len: int = 0

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise InputError(f"format must be {FORMAT!r}, got {self.format!r}")
        hold_number(self, "requests", 1, 2**63, whole=True)
        object.__setattr__(self, "memory", check_memory(self.memory))
        hold_number(self, "max_model_len", 0, LONGEST_MODEL_LEN, whole=True)
        self.clock  # noqa: B018 (so that bad coefficients are told here)
        records = list_in("bounds", self.bounds)
        if not records:
            raise InputError("bounds must be one or more, there are none")
        kind = rounds.MemoryRow if self.coefficients is None else seconds.MachineRow
        rows = [build(kind, record, f"bound {number}") for number, record in enumerate(records)]
        object.__setattr__(self, "bounds", rows)

    @property
    def clock(self) -> Clock:
        """The clock it speaks of."""
        if self.coefficients is None:
            return ROUNDS
        known = isinstance(self.coefficients, Mapping) and set(self.coefficients) == {*COEFFICIENTS}
        if not known:
            raise InputError(f"coefficients must be a record of {', '.join(COEFFICIENTS)}")
        return seconds_clock(*(self.coefficients[name] for name in COEFFICIENTS))


def certificate(bounds: Sequence[Bound], workload: Workload, memory: int) -> str:
    """The certificate of those bounds that prices prove, all on one clock, as JSON text.

    Raises
    ------
    InputError
        When none of them has prices.
    """
    priced = [bound for bound in bounds if bound.is_priced]
    if not priced:
        raise InputError(
            "none of these bounds is proved by prices: ask for prices, or in rounds fluid or lp"
        )
    clock, longest = priced[0].clock, workload.admission_limits.max_model_len
    prove = rounds.written if clock.is_rounds else seconds.written
    return json.dumps(
        {
            "format": FORMAT,
            "workload": replace(workload, admission_limits=AdmissionLimits()).digest,
            "requests": len(workload),
            "memory": memory,
            **({} if clock.is_rounds else {"coefficients": _coefficients(clock)}),
            **({"max_model_len": longest} if longest else {}),
            "bounds": [
                {
                    "bound": bound.bound,
                    "value": bound.value,
                    "covers_preemption": bound.covers_preemption,
                    "replicas": bound.replicas,
                    **prove(bound),
                }
                for bound in priced
            ],
        }
    )


def _coefficients(clock: Clock) -> dict[str, float]:
    return dict(zip(COEFFICIENTS, map(float, clock.step), strict=True))


def check(text: str, workload: Workload) -> Checked:
    """Check every bound of a certificate against the requests it speaks of.

    Raises
    ------
    InputError
        When the text is no certificate, or is one for other requests.
    """
    record = _read(text)
    if record.workload != workload.digest or record.requests != len(workload):
        raise InputError(
            f"this certificate is for {record.requests:,} other requests: give the trace, and "
            "the seconds a round, that it was made from"
        )
    workload = replace(
        workload, admission_limits=AdmissionLimits(max_model_len=record.max_model_len)
    )
    fitting, aside = set_aside(workload, record.memory)
    check_row = rounds.check_row if record.clock.is_rounds else seconds.check_row
    findings = tuple(check_row(row, fitting, record.memory, record.clock) for row in record.bounds)
    return Checked(record.memory, record.clock, len(fitting), len(aside), findings)


def _read(text: str) -> _Certificate:
    try:
        record = json.loads(text, parse_constant=_no_number)
        return build(_Certificate, record, "this is no certificate")
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"this is no certificate: {problem}") from None


def _no_number(name: str):
    raise ValueError(f"{name} is no number")
