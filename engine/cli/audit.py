"""Say how far a trace's schedule was from the best possible, and where in the day."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from engine import wording
from engine.audit import Audit, AuditPlan, Judged, RankedSchedule, audit, cut, pick
from engine.audit.interval import LEVEL
from engine.audit.judge import Pick, default_methods
from engine.audit.ranking import USUAL, headline, remarks
from engine.audit.tables import ranking_table, windows_table
from engine.audit.windows import REQUESTS
from engine.bound_method import METHODS, find_method
from engine.cli.clock_arguments import read_clock
from engine.cli.files import write_text
from engine.cli.import_ import read_map
from engine.cli.results import print_json, requests_line
from engine.cli.simulate import read_params
from engine.cli.topology_arguments import add_topology_arguments, in_closed_loop, read_topology
from engine.cli.trace_arguments import add_trace_arguments
from engine.errors import InputError
from engine.fields import number_in
from engine.machine.clock import Clock
from engine.policy import find_policy, quick_policies
from engine.traces import Report, as_workload, read_requests
from engine.traces.clock import PER_SECOND
from engine.traces.formats import canonical
from engine.traces.log import ROLES
from engine.workload import Workload, check_memory

ABOVE = 1  # the exit code where the gap is above the threshold
TOLD_EVERY = 1.0  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_trace_arguments(parser)
    add_topology_arguments(parser)
    parser.add_argument(
        "--policy",
        action="append",
        metavar="KEY",
        help="a policy to replay, repeatable; the first is judged unless the trace has measured "
        f"latencies (default: every quick one, {USUAL} judged)",
    )
    parser.add_argument(
        "--param", action="append", default=[], metavar="KEY.NAME=VALUE", help="as in simulate"
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
    parser.add_argument("--seed", type=float, default=0, help="of the sample and the interval")
    parser.add_argument("--time-unit", choices=PER_SECOND, help="of the trace's arrivals")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=f"the file's name for {', '.join(ROLES)}, repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    memory, clock = check_memory(arguments.memory), read_clock(arguments)
    seed = number_in("--seed", arguments.seed, 0, 2**63, whole=True)
    if arguments.threshold is not None:
        number_in("--threshold (per cent)", arguments.threshold, 0, 1e9)
    methods = [find_method(key) for key in dict.fromkeys(arguments.bound or ())]
    topology = read_topology(arguments)
    workload, measured, report = _read(arguments, clock.is_rounds)
    windows = cut(workload, memory, arguments.window_requests, measured)
    sample = pick(windows, arguments.windows, seed)
    picks = _picks(arguments, max(len(window.workload) for window in sample))
    audit_plan = AuditPlan(picks, memory, clock, topology, methods or default_methods(clock))
    if arguments.report:
        write_text(arguments.report, "")  # refused before the work, not after it
    seconds = _unit_seconds(arguments, clock, report)
    overload = audit_plan.overload(workload)
    found = audit(sample, audit_plan, len(windows), seed, seconds, _Told(), overload)
    judged = found.judged_schedule(picks[0][0].key if arguments.policy else USUAL)
    if arguments.report:
        _write_report(arguments, found, judged, report)
    requests = sum(len(window.workload) for window in windows)
    above = arguments.threshold is not None and judged.is_above(arguments.threshold)
    if arguments.format == "json":
        about = {
            "n": requests,
            "set_aside": len(workload) - requests,
            "memory": memory,
            "clock": arguments.clock,
            "threshold": arguments.threshold,
            "above_threshold": above,
        }
        print_json({**about, **as_result(found, judged)})
    else:
        print(requests_line(requests, len(workload) - requests, memory))
        print_table(found, judged)
    return ABOVE if above else 0


def _read(
    arguments: argparse.Namespace, in_rounds: bool
) -> tuple[Workload, np.ndarray | None, Report]:
    """The requests, what their server measured (seconds), and how they were read."""
    number_in("--round-seconds", arguments.round_seconds, 1e-9, 1e9)
    requests, report = read_requests(
        arguments.trace,
        strict=arguments.strict,
        time_unit=arguments.time_unit,
        columns=read_map(arguments.map),
    )
    for remark in report.remarks():
        print(remark, file=sys.stderr)
    measured = requests.latency if report.measured["latency"] else None
    if in_rounds and measured is not None:
        print("measured latencies are audited with --clock seconds only", file=sys.stderr)
        measured = None
    workload = as_workload(requests, arguments.round_seconds)
    return in_closed_loop(workload, arguments), measured, report


def _picks(arguments: argparse.Namespace, requests: int) -> list[Pick]:
    """The policies to replay; those that are quick for a window where none is named."""
    params = read_params(arguments.param)
    keys = list(dict.fromkeys(arguments.policy or quick_policies(requests)))
    if not arguments.policy:
        keys = list(dict.fromkeys([*keys, USUAL]))
    for key in params.keys() - set(keys):
        raise InputError(f"a parameter of {key} is given, but {key} is not among the policies")
    policies = [find_policy(key) for key in keys]
    return [(policy, policy.read_params(params.get(policy.key, {}))) for policy in policies]


def _unit_seconds(arguments: argparse.Namespace, clock: Clock, report: Report) -> float | None:
    """How long a clock unit is; None for rounds that were never seconds."""
    if not clock.is_rounds:
        return 1.0
    return None if report.format == canonical.NAME else arguments.round_seconds


class _Told:
    """Progress on stderr, now and then."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, share: float, what: str = "") -> None:
        if time.monotonic() - self.last >= TOLD_EVERY:
            self.last = time.monotonic()
            print(f"{100 * share:3.0f} %  {what}", file=sys.stderr, flush=True)


def as_result(found: Audit, judged: RankedSchedule) -> dict:
    """The windows, each schedule's total, and whose gap is judged (docs/model.md 7)."""
    return {
        "windows_in_trace": found.windows,
        "overload": None if found.overload is None else found.overload.load,
        "judged": judged.label,
        "gap": judged.gap,
        "interval": judged.interval,
        "level": LEVEL,
        "certified": judged.certified,
        "policies": [_total(one) for one in found.ranking],
        "windows": [_window(window, label) for window in found.judged for label in window.findings],
    }


def _total(one: RankedSchedule) -> dict:
    return {
        "policy": one.label,
        "total_latency": one.cost if one.certified else None,
        "bound": one.bound,
        "gap": one.gap,
        "interval": one.interval,
        "certified": one.certified,
        **({"failed": one.failed} if one.failed else {}),
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


def print_table(found: Audit, judged: RankedSchedule) -> None:
    print(headline(found, judged).replace("**", ""))
    print(f"\n{ranking_table(found.ranking).to_string(index=False)}")
    print(f"\n{judged.label}, window by window:")
    print(f"{windows_table(found, judged).to_string(index=False)}\n")
    for remark in remarks(found, judged):
        print(f"- {remark}")


def _write_report(
    arguments: argparse.Namespace, found: Audit, judged: RankedSchedule, report: Report
) -> None:
    from engine.reports.audit_report import audit_report  # plotly is slow to import

    title = f"{Path(arguments.trace).name}, M = {wording.count(int(arguments.memory))}"
    write_text(arguments.report, audit_report(title, found, judged, report))
