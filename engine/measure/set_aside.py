"""Who never runs, counted and in words: by M, and by the longest that a server takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine import wording
from engine.simulate.run import Run
from engine.workload import Workload

OTHERS = "all numbers are of the others"


@dataclass(frozen=True)
class SetAside:
    """How many requests cannot run, by reason.

    Attributes
    ----------
    above : need more than M
    too_long : are longer than max_model_len
    """

    above: int = 0
    too_long: int = 0

    @classmethod
    def of_run(cls, run: Run) -> SetAside:
        """Those that a run set aside."""
        return cls(len(run.set_aside) - run.too_long, run.too_long)

    @classmethod
    def of(cls, workload: Workload, memory: int) -> SetAside:
        """Those that cannot run in so many tokens."""
        too_long = int(workload.is_too_long.sum())
        return cls(int((~workload.fits(memory)).sum()) - too_long, too_long)

    @property
    def total(self) -> int:
        """For either reason."""
        return self.above + self.too_long

    @property
    def reasons(self) -> dict[str, int]:
        """How many by each reason that there is, in words after their number."""
        above = f"need{'s' if self.above == 1 else ''} more than M"
        longer = f"{_be(self.too_long)} longer than max_model_len"
        both = {above: self.above, longer: self.too_long}
        return {what: count for what, count in both.items() if count}


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


NOBODY_ASIDE = SetAside()


def who_is_set_aside(
    aside: Mapping[str, SetAside], everyone: int, means: str = OTHERS
) -> list[str]:
    """A sentence on all policies, or one on each kind where they differ; none where all run.

    Parameters
    ----------
    aside : by the label of the policy
    everyone : requests, those set aside among them
    means : what follows for the numbers
    """
    labels: dict[SetAside, list[str]] = {}
    for label, counts in aside.items():
        labels.setdefault(counts, []).append(label)
    sentences = []
    for counts, those in labels.items():
        if counts.total:
            share = wording.percent(counts.total / everyone)
            first = f"{wording.count(counts.total)} of {wording.counted(everyone, 'request')}"
            under = f" under {wording.listed(those)}" if len(labels) > 1 else ""
            sentences.append(f"{first} ({share}) {_why(counts.reasons, under)}; {means}.")
    return sentences


def _why(reasons: Mapping[str, int], under: str) -> str:
    """How those are set aside: one reason, or each with its count."""
    be = _be(sum(reasons.values()))
    if len(reasons) == 1:
        return f"{next(iter(reasons))} and {be} set aside{under}"
    parts = " and ".join(f"{wording.count(count)} {what}" for what, count in reasons.items())
    return f"{be} set aside{under}: {parts}"
