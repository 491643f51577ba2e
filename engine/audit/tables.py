"""The audit in tables, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine import wording
from engine.audit.judge import Judged
from engine.audit.ranking import Audit, RankedSchedule

if TYPE_CHECKING:
    import pandas as pd


def ranking_table(ranking: Sequence[RankedSchedule]) -> pd.DataFrame:
    """One row a schedule."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        [
            {
                "Schedule": ranked.label,
                "Gap": wording.gap(ranked.gap),
                "95 % interval": _interval(ranked),
                "Total latency": wording.total(ranked.cost) if ranked.certified else "–",
                "Bound": "–" if ranked.bound is None else wording.total(ranked.bound),
                "Bound holds for": _holds_for(ranked),
            }
            for ranked in ranking
        ]
    )


def _interval(ranked: RankedSchedule) -> str:
    return " to ".join(wording.gap(end) for end in ranked.interval) if ranked.interval else "–"


def _holds_for(ranked: RankedSchedule) -> str:
    if not ranked.certified:
        return ranked.failed or "not certified"
    return "every schedule" if ranked.every_run else "schedules without preemption"


def windows_table(audit: Audit, ranked: RankedSchedule) -> pd.DataFrame:
    """One row a window, of one schedule."""
    import pandas as pd  # slow to import

    return pd.DataFrame(
        [
            {
                "Arrivals": _span(audit, window),
                "Requests": wording.count(finding.requests),
                "Total latency": wording.total(finding.cost),
                "Bound": "–" if finding.least is None else wording.total(finding.least),
                "Gap": wording.gap(finding.gap),
                "Proof": finding.bound.bound if finding.bound and finding.certified else "none",
            }
            for window, finding in zip(audit.spans_of(ranked), ranked.findings, strict=True)
        ]
    )


def _span(audit: Audit, window: Judged) -> str:
    begin = audit.when(window.begin)
    if window.begin == window.end:
        return f"all at once, at {begin}"
    return f"{begin} to {audit.when(window.end)}"
