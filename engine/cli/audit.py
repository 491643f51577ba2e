"""Say how far a trace's schedule was from the best possible, and where in the day."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from engine import wording
from engine.audit import Audit, AuditPlan, Judged, RankedSchedule, cut, pick
from engine.audit.interval import LEVEL
from engine.audit.judge import default_methods
from engine.audit.ranking import IN_ENGINES, USUAL, headline
from engine.audit.remarks import remarks, remarks_on_measured
from engine.audit.tables import ranking_table, windows_table
from engine.audit.windows import REQUESTS
from engine.bound_method import METHODS, find_method
from engine.choice import Choice
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.files import write_text
from engine.cli.numbers import number
from engine.cli.policy_arguments import add_policy_arguments, read_choices, read_seed
from engine.cli.reading_arguments import reading_of
from engine.cli.remarks import remark
from engine.cli.results import print_json, requests_line
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop
from engine.cli.trace_arguments import add_trace_arguments
from engine.fields import number_in
from engine.fleet import Deployment
from engine.machine.clock import Clock
from engine.traces import Report, as_workload, read_requests
from engine.traces.formats import canonical
from engine.traces.remarks import remarks as remarks_on_trace
from engine.workload import Workload

ABOVE = 1  # the exit code where the gap is above the threshold
TOLD_EVERY = 1.0  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace_arguments(parser)
    add_topology_arguments(parser)
    add_policy_arguments(
        parser,
        f"every quick one, {USUAL} judged; of those named the first is, unless the trace has "
        "measured latencies",
    )
    parser.add_argument(
        "--bound",
        action="append",
        metavar="METHOD",
        help=f"how to bound, repeatable: {', '.join(METHODS)} (default: fluid, or srpt and "
        "prices in seconds)",
    )
    _add_window_arguments(parser)
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="PERCENT",
        help=f"exit with {ABOVE} when the interval of the gap lies above",
    )
    parser.add_argument("--report", metavar="FILE.html", help="write a report to keep")


def _add_window_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--window-requests",
        type=float,
        default=REQUESTS,
        metavar="N",
        help=f"requests a window, about (default {REQUESTS})",
    )
    parser.add_argument("--windows", type=float, metavar="K", help="judge only so many, sampled")
    parser.add_argument(
        "--seed", type=number, help="of the sample, the interval and policies that draw (0)"
    )


def run(arguments: argparse.Namespace) -> int:
    deployment = read_deployment(arguments)
    seed = read_seed(arguments) or 0
    if arguments.threshold is not None:
        number_in("--threshold (per cent)", arguments.threshold, 0, 1e9)
    methods = tuple(dict.fromkeys(arguments.bound or default_methods(deployment.clock)))
    for key in methods:
        find_method(key)
    workload, measured, report = _read(arguments, deployment.clock.is_rounds)
    windows = cut(workload, deployment.room, arguments.window_requests, measured)
    sample = pick(windows, arguments.windows, seed)
    choices = _choices(arguments, deployment, max(len(window.workload) for window in sample))
    plan = AuditPlan(deployment, choices, methods)
    if arguments.report:
        write_text(arguments.report, "")  # refused before the work, not after it
    audit = Audit(
        plan.judge_all(sample, _OnStderr()),
        len(windows),
        deployment.unit,
        seed,
        _unit_seconds(arguments, deployment.clock, report),
        plan.overload(workload),
        len(workload),
        plan.aside(workload),
    )
    judged = audit.judged_schedule(choices[0].key if arguments.policy else _usual(deployment))
    reading = list(arguments.remarks)
    remark(arguments, remarks(audit, judged))
    if arguments.report:
        _write_report(arguments, audit, judged, (report, reading))
    requests = sum(len(window.workload) for window in windows)
    above = arguments.threshold is not None and judged.is_above(arguments.threshold)
    if arguments.format == "json":
        about = {
            "n": requests,
            "set_aside": len(workload) - requests,
            "memory": deployment.memory,
            "clock": arguments.clock,
            **engine_row(deployment.engine),
            "threshold": arguments.threshold,
            "above_threshold": above,
        }
        print_json({**about, **as_result(audit, judged), "remarks": arguments.remarks})
    else:
        print(requests_line(requests, len(workload) - requests, deployment.memory))
        print_table(audit, judged)
    return ABOVE if above else 0


def _read(
    arguments: argparse.Namespace, in_rounds: bool
) -> tuple[Workload, np.ndarray | None, Report]:
    """The requests, what their server measured (seconds), and how they were read."""
    number_in("--round-seconds", arguments.round_seconds, 1e-9, 1e9)
    requests, report = read_requests(arguments.trace, **reading_of(arguments))
    remark(arguments, remarks_on_trace(report, in_rounds, arguments.round_seconds))
    remark(arguments, remarks_on_measured(report, in_rounds))
    measured = requests.latency if report.measured["latency"] and not in_rounds else None
    workload = as_workload(requests, arguments.round_seconds)
    return in_closed_loop(workload, arguments), measured, report


def _choices(
    arguments: argparse.Namespace, deployment: Deployment, requests: int
) -> tuple[Choice, ...]:
    """The policies to replay; those that run here and are quick where none is named."""
    usual = dict.fromkeys([*deployment.quick(requests), Choice(_usual(deployment))])
    return read_choices(arguments, usual)


def _usual(deployment: Deployment) -> str:
    """The policy that servers run: inside an engine, the order of arrival."""
    return USUAL if deployment.engine.is_ideal else IN_ENGINES


def _unit_seconds(arguments: argparse.Namespace, clock: Clock, report: Report) -> float | None:
    """How long a clock unit is; None for rounds that were never seconds."""
    if not clock.is_rounds:
        return 1.0
    return None if report.format == canonical.NAME else arguments.round_seconds


class _OnStderr:
    """Progress on stderr, now and then."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, share: float, what: str = "") -> None:
        if time.monotonic() - self.last >= TOLD_EVERY:
            self.last = time.monotonic()
            print(f"{100 * share:3.0f} %  {what}", file=sys.stderr, flush=True)


def as_result(audit: Audit, judged: RankedSchedule) -> dict:
    """The windows, each schedule's total, and whose gap is judged (docs/model.md 7)."""
    return {
        "windows_in_trace": audit.windows,
        "overload": None if audit.overload is None else audit.overload.load,
        "judged": judged.label,
        "gap": judged.gap,
        "interval": judged.interval,
        "level": LEVEL,
        "certified": judged.certified,
        "policies": [_total(ranked) for ranked in audit.ranking],
        "windows": [_window(window, label) for window in audit.judged for label in window.findings],
    }


def _total(ranked: RankedSchedule) -> dict:
    return {
        "policy": ranked.label,
        "total_latency": ranked.cost if ranked.certified else None,
        "bound": ranked.bound,
        "gap": ranked.gap,
        "interval": ranked.interval,
        "certified": ranked.certified,
        **({"failed": ranked.failed} if ranked.failed else {}),
    }


def _window(window: Judged, label: str) -> dict:
    finding = window.findings[label]
    bound = finding.bound
    return {
        "window": window.number,
        "begin": window.begin,
        "end": window.end,
        "n": finding.requests,
        "policy": label,
        "cost": finding.cost,
        "bound": bound.value if bound else None,
        "gap": finding.gap,
        "certified": finding.certified,
        "bound_name": bound.bound if bound else None,
    }


def print_table(audit: Audit, judged: RankedSchedule) -> None:
    print(headline(audit, judged).replace("**", ""))
    print(f"\n{ranking_table(audit.ranking).to_string(index=False)}")
    print(f"\n{judged.label}, window by window:")
    print(windows_table(audit, judged).to_string(index=False))


def _write_report(
    arguments: argparse.Namespace,
    audit: Audit,
    judged: RankedSchedule,
    read: tuple[Report, list[str]],
) -> None:
    from engine.reports.audit_report import audit_report  # plotly is slow to import

    title = f"{Path(arguments.trace).name}, M = {wording.count(int(arguments.memory))}"
    write_text(arguments.report, audit_report(title, audit, judged, *read))
