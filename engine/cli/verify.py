"""Check a certificate of bounds against the trace it speaks of."""

from __future__ import annotations

import argparse

from engine.cli.files import read_text
from engine.cli.results import print_json, requests_line
from engine.cli.trace_arguments import add_traced_arguments, read_workload
from engine.evidence.certificate import check
from engine.traces.ceilings import LONGEST_DOCUMENT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("certificate", metavar="CERTIFICATE", help="from `bound --certificate`")
    add_traced_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when all bounds hold, 1 when one does not; malformed input is a 2 as ever."""
    text = read_text(arguments.certificate, LONGEST_DOCUMENT)
    checked = check(text, read_workload(arguments))
    if arguments.format == "json":
        print_json(
            {
                "n": checked.requests,
                "set_aside": checked.set_aside,
                "memory": checked.memory,
                "clock": checked.clock.unit,
                "coefficients": None if checked.clock.is_rounds else checked.clock.step._asdict(),
                "bounds": [vars(finding) for finding in checked.findings],
            }
        )
    else:
        print(requests_line(checked.requests, checked.set_aside, checked.memory))
        if not checked.clock.is_rounds:
            step = checked.clock.step._asdict().items()
            coefficients = ", ".join(f"{name} = {value:g}" for name, value in step)
            print(f"in seconds, on a machine with {coefficients}")
        for finding in checked.findings:
            verdict = "holds" if finding.holds else "DOES NOT HOLD"
            covers = "every run" if finding.covers_preemption else "runs that keep their KV cache"
            print(
                f"{finding.bound}: claimed {finding.claimed!r}, proved {finding.proved!r} "
                f"for {covers}: {verdict}"
            )
    return 0 if checked.holds else 1
