"""The audit in tables, as people read them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine import wording
from engine.audit.judge import Judged
from engine.audit.ranking import Audit, RankedSchedule


def ranking_table(ranking: Sequence[RankedSchedule]) -> pd.DataFrame:
    """One row a schedule."""
    return pd.DataFrame(
        [
            {
                "Schedule": one.label,
                "Gap": wording.gap(one.gap),
                "95 % interval": _interval(one),
                "Total latency": wording.total(one.cost) if one.certified else "–",
                "Bound": wording.total(one.bound) if one.certified else "–",
                "Bound holds for": _holds_for(one),
            }
            for one in ranking
        ]
    )


def _interval(one: RankedSchedule) -> str:
    return " to ".join(wording.gap(end) for end in one.interval) if one.interval else "–"


def _holds_for(one: RankedSchedule) -> str:
    if not one.certified:
        return one.failed or "not certified"
    return "every schedule" if one.every_run else "schedules without preemption"


def windows_table(found: Audit, ranked: RankedSchedule) -> pd.DataFrame:
    """One row a window, of one schedule."""
    return pd.DataFrame(
        [
            {
                "Arrivals": _span(found, window),
                "Requests": wording.count(finding.requests),
                "Total latency": wording.total(finding.cost),
                "Bound": wording.total(finding.bound.value) if finding.certified else "–",
                "Gap": wording.gap(finding.gap),
                "Proof": finding.bound.bound if finding.certified else "none",
            }
            for window, finding in zip(found.spans_of(ranked), ranked.findings, strict=True)
        ]
    )


def _span(found: Audit, window: Judged) -> str:
    begin = found.when(window.begin)
    if window.begin == window.end:
        return f"all at once, at {begin}"
    return f"{begin} to {found.when(window.end)}"
