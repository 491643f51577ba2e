"""Trace audit: how far was the day from the best possible, when, and what if it were another."""

import streamlit as st

from engine.demand.fit_laws import fit_laws
from pages.parts.audit.answer import tell_audit
from pages.parts.audit.calibrate import tell_calibration
from pages.parts.audit.trace import tell_trace
from pages.parts.audit.what_if import tell_what_if
from pages.parts.audit.windows import ask_windows
from pages.parts.frame import page
from pages.parts.jobs import NothingYet
from pages.parts.sidebar.memory import offer_memory
from pages.parts.sidebar.upload import upload_of
from pages.parts.store import store
from pages.parts.view import View


def draw(view: View) -> None:
    """The answer, the server's round times, another day, the trace."""
    if not view.choices:
        raise NothingYet("Pick a policy in the sidebar.")
    offer_memory(view.deployment.memory)
    upload = upload_of(view.workload)
    answer = st.container()
    chosen = ask_windows(view, upload)
    with answer:
        tell_audit(chosen, upload)
    laws = store().get((view.workload.digest, "laws"), lambda: fit_laws(view.workload))
    tell_calibration(view, upload)
    tell_what_if(view, laws)
    tell_trace(view, laws, upload)


page(
    "Trace audit",
    draw,
    icon=":material/fact_check:",
    question="How far was a day from the best possible, and when?",
)
