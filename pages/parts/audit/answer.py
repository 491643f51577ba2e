"""The audit's answer: the gap of the day in a sentence, over the day, and a report to keep."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.audit import Audit, RankedSchedule
from engine.audit.ranking import headline
from engine.audit.remarks import remarks, remarks_on_measured
from engine.audit.tables import ranking_table, windows_table
from engine.figures.audit import (
    describe_gap_over_day,
    describe_standings,
    draw_gap_over_day,
    draw_standings,
)
from engine.reports.audit_report import DRAWN, WHAT_A_GAP_IS, audit_report
from pages.parts import show
from pages.parts.audit.trace import trace_in_words
from pages.parts.audit.windows import WindowChoice
from pages.parts.jobs import finished, offer
from pages.parts.sidebar.memory import doubts_of_memory
from pages.parts.sidebar.upload import Upload


def tell_audit(chosen: WindowChoice, upload: Upload | None) -> None:
    """What is known so far; an offer to judge what is not judged yet."""
    finished([chosen.job])
    audit = chosen.audit
    if audit is None:
        st.markdown(f"# {trace_in_words(chosen.view)}")
        st.markdown(
            "How far is that day's schedule from the best possible? Every policy serves the trace "
            f"in windows, each with a certified bound. {WHAT_A_GAP_IS}"
        )
    else:
        _tell_audit(chosen, audit, upload)
    if upload is not None:
        show.remarks(remarks_on_measured(upload.report, chosen.view.deployment.clock.is_rounds))
    offer([chosen.job], "Audit the trace" if audit is None else "Judge the other windows")


def _tell_audit(chosen: WindowChoice, audit: Audit, upload: Upload | None) -> None:
    judged = audit.judged_schedule()
    ranking = [judged, *(ranked for ranked in audit.ranking if ranked is not judged)]
    st.markdown(f"# {headline(audit, judged)}")
    st.caption(trace_in_words(chosen.view))
    _draw(audit, [ranked for ranked in ranking if ranked.gap is not None][:DRAWN])
    show.remarks([*chosen.view.deployment.engine.remarks, *remarks(audit, judged)])
    show.rows(ranking_table(ranking), "Gap of every schedule over all windows")
    with st.expander(f"{judged.label}, window by window", icon=":material/view_week:"):
        show.rows(windows_table(audit, judged), "Every window of the judged schedule")
    report = upload.report if upload else None
    clock = chosen.view.deployment.clock
    reading = [] if upload is None else upload.remarks(clock)
    if upload is not None:
        reading += remarks_on_measured(upload.report, clock.is_rounds)
    reading += doubts_of_memory(chosen.view.deployment.memory)
    reading += chosen.view.deployment.engine.remarks
    st.download_button(
        "Report (HTML)",
        data=lambda: audit_report(chosen.view.title, audit, judged, report, reading).encode(),
        file_name="audit.html",
        mime="text/html",
        icon=":material/download:",
        on_click="ignore",
    )


def _draw(audit: Audit, ranking: Sequence[RankedSchedule]) -> None:
    """Over the day; all in one where there is one window only."""
    if not ranking:
        return
    if len(audit.judged) > 1:
        show.figure(
            draw_gap_over_day(audit, ranking), describe_gap_over_day(ranking), "gap-over-day"
        )
    else:
        show.figure(draw_standings(ranking), describe_standings(ranking), "gap-of-the-day")
