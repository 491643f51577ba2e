"""Where the gaps come from, on the Gap page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import Bound
from engine.evidence.losses import loss_of, losses_in_words, pricing_bound
from engine.figures.losses import describe_losses, draw_losses
from engine.measure.league import Entry
from pages.parts import show
from pages.parts.jobs import Job, finished, offer
from pages.parts.view import View

SECONDS_A_REQUEST = 2e-6


def loss_jobs(view: View, entries: Sequence[Entry], bounds: Sequence[Bound]) -> list[Job]:
    """One job an entry that a bound with prices covers."""
    covered = [(entry, pricing_bound(entry, bounds)) for entry in entries]
    return [_loss_job(view, entry, bound) for entry, bound in covered if bound is not None]


def _loss_job(view: View, entry: Entry, bound: Bound) -> Job:
    return Job(
        key=("loss", view.experiment, entry.label, bound.bound, bound.value),
        title=f"split of {entry.label}",
        seconds=SECONDS_A_REQUEST * len(entry.run.workload),
        compute=lambda progress: loss_of(entry, bound),
    )


def tell_losses(view: View, entries: Sequence[Entry], bounds: Sequence[Bound]) -> None:
    """A sentence on what dominates, the split as bars."""
    jobs = loss_jobs(view, entries, bounds)
    if not jobs:
        return
    st.markdown("## Where the gap comes from")
    if losses := finished(jobs):
        st.markdown(losses_in_words(losses))
        drawn = losses[: show.DRAWN]
        show.figure(draw_losses(drawn), describe_losses(drawn), "gap-split")
        st.caption(
            "Each gap to the best bound that prices prove for its run. Ordering: others should "
            "have gone first. Idle memory: tokens that stood empty, at the price that the bound "
            "puts on them. The numbers in a bar are per cent of the bound and add up to the gap."
        )
    offer(jobs, "Split the gaps")
