"""Work that a page needs: quick jobs at once, dear ones when asked, with progress and cancel.

A page first draws what is there. Jobs that the user asked for are then worked
off one by one, each shown as soon as it is done, while the page stays readable.
Any change in the sidebar, or Cancel, stops the work at its next report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import InputError
from engine.errors import as_sentence
from engine.measure.remarks import failures
from engine.mode import current_mode
from engine.progress import Progress, silent
from pages.parts.allowed import in_turn
from pages.parts.literal import literal
from pages.parts.store import store

AT_ONCE = 0.050  # seconds: what takes less is done unasked
SOON = 1.0  # seconds: what takes less may begin unasked once the page is drawn


@dataclass(frozen=True, eq=False)
class Job:
    """Something to compute.

    Attributes
    ----------
    key : what the result depends on, for the store
    title : what users call it
    seconds : how long it takes, roughly; infinite where it cannot be done
    compute : reports its progress to the given function, returns the result
    """

    key: Hashable
    title: str
    seconds: float
    compute: Callable[[Progress], Any]

    @property
    def is_done(self) -> bool:
        return self.key in store()

    @property
    def is_quick(self) -> bool:
        return self.seconds < AT_ONCE

    def result(self, progress: Progress = silent) -> Any:
        def compute() -> Any:
            if self.is_quick:
                return self.compute(progress)
            return in_turn(self.title, self.seconds, self.compute, progress)

        return store().get(self.key, compute)


def _asked() -> dict[Hashable, Job]:
    """The jobs this session asked for, in order."""
    return st.session_state.setdefault("asked", {})


def finished(jobs: Iterable[Job], must: bool = False) -> list[Any]:
    """The results that are there, quick ones computed now, in the order of the jobs.

    What cannot be computed is told, each reason once, and left out; where nothing is left
    and something `must` be, the first reason is raised.
    """
    results: list[Any] = []
    problems: dict[str, str] = {}  # why, by what has no result
    for job in jobs:
        if job.is_quick or job.is_done:
            try:
                results.append(job.result())
            except InputError as problem:
                problems[job.title] = str(problem)
    if must and problems and not results:
        raise InputError(next(iter(problems.values())))
    for sentence in failures(problems):
        st.warning(literal(sentence), icon=":material/edit:")
    return results


class NothingYet(Exception):
    """The page has nothing to draw yet; its text, if any, says what to do."""


def needed(*kinds: list[Job]) -> tuple[list[Any], ...]:
    """The finished results of each kind of jobs, at least one of each; else NothingYet."""
    if not kinds[0]:
        raise NothingYet("Pick a policy in the sidebar.")
    results = tuple(finished(jobs, must=jobs is kinds[0]) for jobs in kinds)
    if not all(results):
        waiting = [job for jobs in kinds for job in jobs if not (job.is_quick or job.is_done)]
        if waiting:
            st.info("On this workload that takes a while: start it when you like.")
        offer(waiting)
        raise NothingYet
    return results


def offer(jobs: Iterable[Job], label: str | None = None) -> None:
    """A button for the jobs that are neither done nor under way; nothing without such jobs.

    It reads `label`, or names the jobs.
    """
    waiting = [job for job in jobs if not (job.is_quick or job.is_done or job.key in _asked())]
    impossible = [job.title for job in waiting if job.seconds == math.inf]
    if impossible:
        st.caption(literal(f"Not for so many requests: {', '.join(impossible)}."))
    waiting = [job for job in waiting if job.seconds < math.inf]
    try:
        current_mode().check_jobs({job.title: job.seconds for job in waiting})
    except InputError as limit:
        st.caption(literal(as_sentence(limit)))
        waiting = [job for job in waiting if job.seconds <= current_mode().estimate]
    if not waiting:
        return
    names = ", ".join(job.title for job in waiting)
    seconds = sum(job.seconds for job in waiting)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            literal(label or f"Run {names}"),
            icon=":material/play_arrow:",
            key=f"run {names}",
            on_click=lambda: _asked().update({job.key: job for job in waiting}),
        )
        about = "less than a second" if seconds < 1 else f"about {float(f'{seconds:.2g}'):g} s"
        st.caption(f"Takes {about}; the page stays usable.")


def begin(job: Job, label: str | None = None) -> None:
    """Ask for a job that is soon done in the user's place; `offer` one that takes longer.

    What failed or was cancelled is not begun again unasked.
    """
    if job.seconds < SOON and not job.is_done and job.key not in _ended():
        _asked().setdefault(job.key, job)
    offer([job], label)


def _ended() -> set[Hashable]:
    """The jobs of this session that failed or were cancelled."""
    return st.session_state.setdefault("ended", set())


def _cancel() -> None:
    _ended().update(_asked())
    _asked().clear()


def work_off(slot) -> None:
    """Do the first job that was asked for in `slot`, then draw the page again with its result."""
    while _asked() and next(iter(_asked().values())).is_done:
        _asked().pop(next(iter(_asked())))
    if not _asked():
        return
    job = next(iter(_asked().values()))
    with slot.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, literal(f"Running {job.title}"))
        st.button("Cancel", icon=":material/close:", key="cancel", on_click=_cancel)

    def progress(share: float, sentence: str = "") -> None:
        said = f"Running {job.title}" + (f": {sentence}" if sentence else "")
        bar.progress(min(1.0, share), literal(said))

    try:
        job.result(progress)
    except InputError as problem:
        _ended().add(job.key)
        slot.error(literal(f"{job.title}: {problem}"), icon=":material/edit:")
        return
    finally:
        # Also when it failed or was stopped by a change: nothing is run twice unasked.
        _asked().pop(job.key, None)
    st.rerun()
