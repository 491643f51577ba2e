"""How certain the bounds are, on the Gap page: in words, as an optimum, as a proof to take away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import Bound, find_method, wording
from engine.evidence.certainty import PROOF_BY_PRICES, by_kind, holds_for, is_by_prices
from engine.evidence.certificate_download import (
    certificate_text,
    is_too_long,
    provable,
    requests_text,
)
from engine.improve.hindsight import MOST_REQUESTS
from pages.parts.jobs import Job, offer
from pages.parts.view import View

PRICES = {
    "rounds": "the price of a token of memory in every round",
    "seconds": "prices of a second of machine time, and the coefficients of the machine",
}
VERIFY = "python -m engine verify certificate.json requests.csv"


def tell_certainty(bounds: Sequence[Bound]) -> None:
    """Each kind of bound and the values it proves, for whom; why to trust them, folded."""
    for words, rows in by_kind(bounds).items():
        values = [
            f"- **{bound.bound}**: no less than {_total(bound)} for {holds_for(bound)}."
            for bound in rows
        ]
        st.markdown("\n".join([f"{words.what}", "", *values]))
    with st.expander("Why can I trust these numbers?", icon=":material/verified:"):
        if is_by_prices(bounds):
            st.markdown(PROOF_BY_PRICES)
        for words, rows in by_kind(bounds).items():
            st.markdown(f"**{rows[0].bound}**: {words.why}")
            st.caption("  \n".join(f"{bound.bound}: {bound.method}." for bound in rows))


def tell_optimum(view: View, exact: Sequence[Job], bounds: Sequence[Bound]) -> None:
    """The exact optimum: its state if it was sought, an offer where it can be."""
    if not view.deployment.clock.is_rounds:
        return
    st.markdown("### The exact optimum")
    optima = [bound for bound in bounds if find_method(bound.found_by).is_exact]
    for bound in optima:
        st.markdown(f"No schedule without preemption is below {_total(bound)}: {bound.method}.")
    if exact:
        if not optima:
            st.caption("Few enough requests to solve the real task; it may be stopped by its time.")
        offer(exact, "Solve for the exact optimum")
    else:
        st.caption(
            f"It can be solved for up to {MOST_REQUESTS} requests; here are "
            f"{wording.count(len(view.workload))}."
        )


def _total(bound: Bound) -> str:
    """The bound on the total latency, with its unit."""
    written = wording.total(bound.value)
    return f"{written} {wording.in_number(written, bound.unit)}"


def hand_out(view: View, bounds: Sequence[Bound]) -> None:
    """The prices and the requests to download, and the command that checks the one on the other."""
    proofs = provable(bounds)
    if not proofs or view.deployment.servers > 1:
        return
    st.markdown("### Check it yourself")
    names = " and ".join(bound.bound for bound in proofs)
    if is_too_long(proofs):
        st.caption(
            "The certificate of so many rounds is too long to download here: "
            "`python -m engine bound --certificate` writes it to a file."
        )
        return
    st.markdown(
        f"The certificate holds {PRICES[view.deployment.unit]}, which proves "
        f"{names}. The checker is a program of its own that believes nothing else."
    )
    with st.container(horizontal=True):
        _download(
            "Certificate (JSON)",
            "certificate.json",
            lambda: certificate_text(proofs, view.workload, view.deployment.memory),
        )
        _download("Requests (CSV)", "requests.csv", lambda: requests_text(view.workload))
    st.code(VERIFY, language="bash")


def _download(label: str, name: str, text) -> None:
    st.download_button(
        label,
        data=lambda: text().encode(),
        file_name=name,
        icon=":material/download:",
        on_click="ignore",
    )
