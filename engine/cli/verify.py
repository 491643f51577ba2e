"""Check a certificate of bounds against the trace it speaks of."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from engine.certificate import check
from engine.cli.trace_arguments import add_reading_arguments, read_workload
from engine.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("certificate", metavar="CERTIFICATE", help="from `bound --certificate`")
    add_reading_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when a bound does not hold."""
    try:
        text = Path(arguments.certificate).read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read {arguments.certificate}: {problem}") from None
    findings = check(text, read_workload(arguments))
    if arguments.format == "json":
        print(json.dumps([vars(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            verdict = "holds" if finding.holds else "DOES NOT HOLD"
            covers = "every run" if finding.covers_preemption else "runs that keep their KV cache"
            print(
                f"{finding.bound}: claimed {finding.claimed!r}, proved {finding.proved!r} "
                f"for {covers}: {verdict}"
            )
    return 0 if all(finding.holds for finding in findings) else 1
