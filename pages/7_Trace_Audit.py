"""Trace audit: how far was the day from the best possible, when, and what if it were another."""

import streamlit as st

from engine.audit.standings import headline, remarks
from engine.audit.tables import standings_table, windows_table
from engine.audit_report import DRAWN, WHAT_A_GAP_IS, audit_report
from engine.figures.audit import describe_gap_over_day, draw_gap_over_day
from engine.fit_laws import fit_laws
from pages.parts import show
from pages.parts.audit_calibrate import tell_calibration
from pages.parts.audit_trace import tell_trace, trace_in_words
from pages.parts.audit_what_if import tell_what_if
from pages.parts.audit_windows import Plan, ask_plan, has_measured
from pages.parts.frame import page
from pages.parts.jobs import NothingYet, finished, offer
from pages.parts.store import store
from pages.parts.upload import Upload, upload_of
from pages.parts.view import View


def draw(view: View) -> None:
    """The answer, where in the day it arises, the trace, another day."""
    if not view.choices:
        raise NothingYet("Pick a policy in the sidebar.")
    upload = upload_of(view.workload)
    answer = st.container()
    plan = ask_plan(view, upload)
    with answer:
        tell_audit(plan, upload)
    laws = store().get((view.workload.digest, "laws"), lambda: fit_laws(view.workload))
    tell_calibration(view, upload)
    tell_what_if(view, laws)
    tell_trace(view, laws, upload)


def tell_audit(plan: Plan, upload: Upload | None) -> None:
    """The gap of the day in a sentence, over the day as a chart, and a report to keep."""
    finished([plan.job])
    found = plan.found
    if found is None:
        st.markdown(f"# {trace_in_words(plan.view)}")
        st.markdown(
            "How far is that day's schedule from the best possible? Every policy serves the trace "
            f"in windows, each with a certified bound. {WHAT_A_GAP_IS}"
        )
    else:
        judged = found.judged_standing()
        standings = [judged, *(one for one in found.standings if one is not judged)]
        drawn = [one for one in standings if one.gap is not None][:DRAWN]
        st.markdown(f"# {headline(found, judged)}")
        st.caption(trace_in_words(plan.view))
        show.figure(draw_gap_over_day(found, drawn), describe_gap_over_day(drawn), "gap-over-day")
        st.markdown(" ".join(remarks(found, judged)))
        show.rows(standings_table(standings), "Gap of every schedule over all windows")
        with st.expander(f"{judged.label}, window by window", icon=":material/view_week:"):
            show.rows(windows_table(found, judged), "Every window of the judged schedule")
        st.download_button(
            "Report (HTML)",
            data=lambda: audit_report(
                plan.view.title, found, judged, upload.report if upload else None
            ).encode(),
            file_name="audit.html",
            mime="text/html",
            icon=":material/download:",
            on_click="ignore",
        )
    if has_measured(upload) and plan.view.clock.is_rounds:
        st.caption("The file has measured latencies: pick a GPU as the clock to audit them.")
    offer([plan.job], "Audit the trace" if found is None else "Judge the other windows")


page("Trace audit", draw)
