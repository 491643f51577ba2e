"""The windows of the audit: how to cut the trace, and judging them one by one.

Every window is kept as soon as it is judged, so that a cancelled audit shows what it has.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import streamlit as st

from engine.audit import Audit, AuditPlan, Judged, Window, cut, pick
from engine.audit.judge import default_methods
from engine.audit.windows import REQUESTS
from engine.machine.clock import Clock
from engine.measure.overload import Verdict
from engine.progress import Progress
from pages.parts.jobs import Job
from pages.parts.link import linked
from pages.parts.sidebar.upload import Upload, unit_seconds
from pages.parts.store import store
from pages.parts.view import View

MOST_WINDOWS = 40


@dataclass(frozen=True, eq=False)
class WindowChoice:
    """What is to be judged.

    Attributes
    ----------
    view : the trace
    plan : how its windows are judged
    windows : of the whole trace
    sample : those to judge
    seed : of the sample
    measured : a name for the measured latencies, for caches
    unit_seconds : as in `Audit`
    """

    view: View
    plan: AuditPlan
    windows: list[Window]
    sample: list[Window]
    seed: int
    measured: int
    unit_seconds: float | None

    @cached_property
    def seconds(self) -> float:
        return sum(self.plan.seconds(window) for window in self.sample)

    def key(self, window: Window) -> Hashable:
        cut_into = (self.view.workload, len(self.windows), self.measured)
        return ("audit", self.plan, *cut_into, window.number)

    @property
    def judged(self) -> list[Judged]:
        """Those that are there."""
        kept = (store().peek(self.key(window)) for window in self.sample)
        return [judged for judged in kept if judged is not None]

    @property
    def audit(self) -> Audit | None:
        """The windows judged so far, added up; None before the first."""
        judged = tuple(self.judged)
        if not judged:
            return None
        unit = self.view.deployment.unit
        whole, aside = self.view.workload, self.plan.aside(self.view.workload)
        return Audit(
            judged,
            len(self.windows),
            unit,
            self.seed,
            self.unit_seconds,
            self._overload,
            len(whole),
            aside,
        )

    @property
    def _overload(self) -> Verdict | None:
        whole = self.view.workload
        return store().get(
            ("audit", "overload", self.plan.deployment, whole), lambda: self.plan.overload(whole)
        )

    @property
    def job(self) -> Job:
        """Judging all that are not judged yet."""
        sample = self.sample

        def compute(progress: Progress) -> bool:
            for number, window in enumerate(sample):

                def in_all(share: float, what: str = "", number=number) -> None:
                    progress((number + share) / len(sample), what)

                in_all(0.0)
                store().get(
                    self.key(window),
                    partial(self.plan.judge, window, in_all),
                )
            return True

        return Job(
            key=("audit of all", *map(self.key, sample), self.seed),
            title=f"the audit of {len(sample)} windows" if len(sample) > 1 else "the audit",
            seconds=self.seconds,
            compute=compute,
        )


def has_measured(upload: Upload | None) -> bool:
    """Whether the trace's own server measured latencies."""
    return upload is not None and upload.report.measured["latency"] > 0


def measured_of(upload: Upload | None, clock: Clock) -> np.ndarray | None:
    """The latencies that the trace's own server had; they are seconds, so on that clock only."""
    if upload is None or clock.is_rounds or not has_measured(upload):
        return None
    return upload.requests.latency


def ask_windows(view: View, upload: Upload | None) -> WindowChoice:
    """The controls of the cut, and what they come to."""
    with st.expander("Windows and bounds", icon=":material/tune:"):
        left, middle, right = st.columns(3)
        with left:
            requests = st.number_input(
                "Requests a window",
                10,
                100_000,
                step=100,
                help="Larger windows have tighter bounds, smaller ones tell the time of day.",
                **linked("window", REQUESTS, int, low=10, high=100_000),
            )
        with middle:
            most = st.number_input(
                "Windows to judge, at most",
                1,
                2000,
                help="One at random from each equal part of the trace.",
                **linked("windows", MOST_WINDOWS, int, low=1, high=2000),
            )
        with right:
            seed = st.number_input(
                "Seed of the sample", 0, 10**6, **linked("sample", 0, int, low=0, high=10**6)
            )
        finer = view.deployment.clock.is_rounds and st.toggle(
            "Finer bounds (price bound: some seconds a window)", **linked("finer", False, bool)
        )
    deployment = view.deployment
    measured = measured_of(upload, deployment.clock)
    windows = cut(view.workload, deployment.room, requests, measured)
    methods = ("prices",) if finer else default_methods(deployment.clock)
    plan = AuditPlan(deployment, view.choices, methods)
    name = 0 if measured is None else hash(measured.tobytes())
    sample = pick(windows, most, seed)
    seconds = unit_seconds(deployment.clock, upload)
    return WindowChoice(view, plan, windows, sample, seed, name, seconds)
