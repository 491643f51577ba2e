"""What a checker finds out about a certificate."""

from __future__ import annotations

from dataclasses import dataclass

from engine.machine.clock import Clock


@dataclass(frozen=True)
class Finding:
    """What the checker found for one bound.

    Attributes
    ----------
    bound, claimed : the row's name and the value it claims, in clock units
    proved : no more than the dual function at the prices
    covers_preemption : whether that holds for every run
    holds : the claims are not more than what is proved
    """

    bound: str
    claimed: float
    proved: float
    covers_preemption: bool
    holds: bool


@dataclass(frozen=True)
class Checked:
    """A certificate that was checked.

    Attributes
    ----------
    memory : M, tokens
    clock : what rounds last
    requests, set_aside : how many requests it speaks of, and how many need more than M
    findings : one a bound
    """

    memory: int
    clock: Clock
    requests: int
    set_aside: int
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every bound does."""
        return all(finding.holds for finding in self.findings)
