"""The audit as a web page in one file, to keep and to send round."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine import wording
from engine.audit import Audit, RankedSchedule
from engine.audit.ranking import duration, headline
from engine.audit.remarks import remarks
from engine.audit.tables import ranking_table, windows_table
from engine.figures.audit import draw_gap_over_day, draw_standings
from engine.figures.html import Literal, html_page
from engine.traces import Report

DRAWN = 8  # lines a chart; more cannot be told apart
WHAT_A_GAP_IS = (
    "A gap of +9 % says that no schedule of the same requests on the same server can have a "
    "total latency more than 9 % lower; the bound under it is proved, window by window."
)


def audit_report(
    title: str,
    audit: Audit,
    judged: RankedSchedule,
    report: Report | None = None,
    reading: Sequence[str] = (),
) -> str:
    """The HTML: the answer, where in the day the gap arises, every schedule, every window.

    Parameters
    ----------
    title : what was audited, such as the file and M
    judged : the schedule that the audit is about
    report : how the trace was read
    reading : remarks on that, and on what serves it
    """
    ranking = [judged, *(ranked for ranked in audit.ranking if ranked is not judged)]
    drawn = [ranked for ranked in ranking if ranked.gap is not None][:DRAWN]
    blocks = [f"# {headline(audit, judged)}", Literal(title), WHAT_A_GAP_IS]
    if drawn and len(audit.judged) > 1:
        blocks += ["## Where in the day it arises", draw_gap_over_day(audit, drawn)]
    blocks += map(Literal, remarks(audit, judged))
    blocks += ["## Every schedule over all windows"]
    blocks += [draw_standings(drawn)] if drawn else []
    blocks += [ranking_table(ranking), "## Every window", windows_table(audit, judged)]
    if report is not None:
        blocks += ["## The trace", import_table(report)]
    blocks += map(Literal, reading)
    return html_page(f"Audit: {title}", blocks)


def import_table(report: Report, over_memory: float | None = None) -> pd.DataFrame:
    """How a file was read, one row a fact."""
    facts = {
        "Format": report.format,
        "Rows kept": f"{wording.count(report.rows_kept)} of {wording.count(report.rows_in)}",
        **({"Part": report.part} if report.part else {}),
        "Set aside": wording.count(sum(report.set_aside.values())),
        "Time unit": report.time_unit,
        "Span": duration(report.span_s),
        "Mean rate": wording.amount(report.rate, "a second") if report.rate else "all at once",
        "Requests that tie with an earlier one": wording.count(report.ties),
        "Largest burst at one moment": wording.count(report.largest_burst),
        "With a measured latency": wording.count(report.measured["latency"]),
    }
    if over_memory is not None:
        facts["Cannot fit in M"] = wording.percent(over_memory)
    return pd.DataFrame({"Trace": list(facts), "": list(facts.values())})
