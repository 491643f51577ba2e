"""Read a request log, report on it, and write it as CSV."""

from __future__ import annotations

import argparse

import numpy as np

from engine import wording
from engine.cli.files import check_output
from engine.cli.numbers import number
from engine.cli.reading_arguments import add_reading_arguments, reading_of
from engine.cli.results import print_json
from engine.errors import InputError
from engine.fields import number_in
from engine.traces import Report, TraceRequests, as_workload, read_requests, write_csv
from engine.traces.part import TracePart
from engine.traces.read import known_logs
from engine.workload import check_memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"Known logs and results: {known_logs()}."
    parser.add_argument("file", metavar="FILE", help="a log, benchmark result or table")
    parser.add_argument("-o", "--output", metavar="OUT.csv", help="write arrival,prompt,output")
    parser.add_argument(
        "--memory", "-M", type=number, help="count the requests that a KV budget of M cannot hold"
    )
    add_reading_arguments(parser)
    parser.add_argument(
        "--window", metavar="A:B", help="only what arrives in these seconds after the first request"
    )
    parser.add_argument(
        "--sample", type=number, default=1, metavar="SHARE", help="keep a share, at random"
    )
    parser.add_argument(
        "--jitter", action="store_true", help="spread arrivals within the bins they were rounded to"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample and the jitter")
    parser.add_argument("--format", choices=["table", "json"], default="table")


def run(arguments: argparse.Namespace) -> None:
    memory = None if arguments.memory is None else check_memory(arguments.memory)
    reading, between = reading_of(arguments), read_window(arguments.window)
    number_in("--seed", arguments.seed, 0, 2**63)
    part = TracePart(between, arguments.sample, arguments.jitter, arguments.seed)
    check_output("--output", arguments.output, [arguments.file])
    requests, report = read_requests(arguments.file, **reading)
    requests = part.of(requests)
    report = Report.of(requests, report.format)
    result = as_result(report, None if memory is None else over(requests, memory))
    if arguments.output:
        write_csv(as_workload(requests), arguments.output)
    if arguments.format == "json":
        print_json(result)
    else:
        print_table(report, result["over_memory"], memory)


def over(requests: TraceRequests, memory: int) -> int:
    """How many requests need more than the memory, prompt and output together."""
    return int((requests.prompt.astype(np.int64) + requests.output > memory).sum())


def as_result(report: Report, over_memory: int | None) -> dict:
    """The JSON of `import` (docs/model.md 7); over_memory is null without --memory."""
    return {
        "format": report.format,
        "rows_in": report.rows_in,
        "rows_kept": report.rows_kept,
        "set_aside": report.set_aside,
        "part": report.part or None,
        "time_unit": report.time_unit,
        "span_s": report.span_s,
        "rate": report.rate,
        "distinct_arrivals": report.distinct_arrivals,
        "ties": report.ties,
        "largest_burst": report.largest_burst,
        "over_memory": over_memory,
        "measured": report.measured,
        "notes": list(report.notes),
        "remarks": report.remarks(),
    }


def print_table(report: Report, over_memory: int | None, memory: int | None) -> None:
    count = wording.count
    print(f"{report.format}: {count(report.rows_kept)} of {count(report.rows_in)} rows kept")
    if report.part:
        print(f"only {report.part}")
    if report.rate is not None:
        print(
            f"{wording.amount(report.span_s, 's')} ({report.time_unit}), "
            f"{wording.number(report.rate)} requests/s, "
            f"{count(report.distinct_arrivals)} different arrival times, "
            f"at most {count(report.largest_burst)} at once"
        )
    if memory is not None and over_memory is not None:
        print(f"{count(over_memory)} need more than M = {wording.tokens(memory)}, and are kept")
    for name, measured in report.measured.items():
        if measured:
            print(f"{count(measured)} with a measured {name}")
    for remark in report.remarks():
        print(f"- {remark}")


def read_window(text: str | None) -> tuple[float, float] | None:
    """`A:B` as two numbers; a side that is left out has no limit."""
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return float(first or 0), float(last or "inf")
    except ValueError:
        raise InputError(f"--window must look like 0:600, in seconds, got {text}") from None
