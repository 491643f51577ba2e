"""What the numbers of an audit leave out, a sentence each: on the page, in reports, on stderr."""

from __future__ import annotations

from engine import wording
from engine.audit.judge import MEASURED
from engine.audit.ranking import LOOSE, Audit, RankedSchedule, where_it_arises
from engine.measure.set_aside import who_is_set_aside
from engine.traces import Report

FEW = 10  # windows: below, an interval is a rough guess
IN_SECONDS = (
    "The file has measured latencies, which are audited in seconds only: take a GPU as the clock."
)


def remarks_on_measured(report: Report, in_rounds: bool) -> list[str]:
    """That measured latencies are not audited on the clock of rounds; nothing without any."""
    return [IN_SECONDS] if in_rounds and report.measured["latency"] else []


def remarks(audit: Audit, judged: RankedSchedule) -> list[str]:
    """What is overloaded, set aside, not judged, loose or a matter of chance."""
    count = wording.count
    seen = f"{count(len(audit.judged))} of {count(audit.windows)} windows were judged"
    sentences = [] if audit.overload is None else [audit.overload.in_words()]
    sentences += who_is_set_aside({judged.label: audit.set_aside}, audit.requests)
    sentences += [
        f"{seen}, each from an empty server: no window inherits what waited before it. That "
        "favours no policy, but all look better than in one long run."
    ]
    if min((ranked.gap for ranked in audit.ranking if ranked.gap), default=1.0) > LOOSE:
        sentences.append(
            f"No schedule comes within {wording.percent(LOOSE - 1)} of the bound: how much of "
            "these gaps is the bound's, being loose, and how much the schedules', is not known."
        )
    if len(audit.judged) == 1:
        sentences.append("One window says nothing about others: no interval.")
    elif len(audit.judged) < FEW:
        sentences.append("With so few windows the interval is rough and rather too narrow.")
    if judged.policy == MEASURED:
        sentences.append(
            "Measured requests may have waited for those of the window before. That counts into "
            "their gap, and not into a replayed policy's: larger windows make it less."
        )
    sentences += [f"{ranked.label}: {ranked.failed}" for ranked in audit.ranking if ranked.failed]
    if where := where_it_arises(audit, judged):
        sentences.append(where)
    return sentences
