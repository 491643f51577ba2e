"""Fit the round times of a server to a benchmark result with per-request timings."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from engine import wording
from engine.calibrate import Benchmark, Fit, Rounds, fit, read_benchmark, see_rounds
from engine.calibrate.fit import NAMES
from engine.cli.results import print_json
from engine.errors import InputError

PERCENTILES = (5, 50, 95)
UNITS = {"c0": "s", "c1": "s a token", "N0": "tokens", "c2": "s a token", "c3": "s a request"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="JSON of vLLM's bench serve with --save-detailed"
    )
    parser.add_argument("--format", choices=["table", "json"], default="table")


def run(arguments: argparse.Namespace) -> None:
    try:
        bench = read_benchmark(arguments.file)
        rounds = see_rounds(bench)
        found = fit(rounds)
    except InputError as problem:
        raise InputError(f"{Path(arguments.file).name}: {problem}") from None
    if arguments.format == "json":
        print_json(as_result(bench, rounds, found))
    else:
        print_table(bench, rounds, found)


def as_result(bench: Benchmark, rounds: Rounds, found: Fit) -> dict:
    low, middle, high = np.percentile(100 * found.residual, PERCENTILES)
    return {
        "models": bench.server,
        "requests": len(bench.prompt),
        "requests_left_out": bench.left_out,
        "rounds_seen": rounds.seen,
        "rounds_fitted": len(found.rounds),
        "rounds_far_off": found.left_out,
        "coefficients": dict(zip(NAMES, found.step, strict=True)),
        "standard_errors": dict(zip(NAMES, found.error.tolist(), strict=True)),
        "undecided": found.undecided,
        "mean_error_percent": found.error_percent,
        "residual_percent": {"p5": low, "p50": middle, "p95": high},
        "text": found.text,
    }


def print_table(bench: Benchmark, rounds: Rounds, found: Fit) -> None:
    count = wording.count
    print(f"models {bench.server or 'a server that the file does not name'}")
    print(
        f"{count(len(bench.prompt))} requests, {count(rounds.seen)} rounds seen, "
        f"{count(len(found.rounds))} of known length fitted, {count(found.left_out)} far off"
    )
    if bench.left_out:
        print(f"- {count(bench.left_out)} requests without usable timings are left out")
    if bench.merged:
        print(
            f"- {count(bench.merged)} requests got tokens in pieces of several: rounds and "
            "contexts are rougher for it"
        )
    for name, value, error in zip(NAMES, found.step, found.error, strict=True):
        sure = f"± {wording.number(2 * error)}" if np.isfinite(error) else found.undecided[name]
        print(f"{name:>3} = {value:.6g} {UNITS[name]}  ({sure})")
    low, middle, high = np.percentile(100 * found.residual, PERCENTILES)
    print(
        f"mean error {found.error_percent:.2f} %; residuals P5 {low:+.1f} %, "
        f"P50 {middle:+.1f} %, P95 {high:+.1f} %"
    )
    print(f"--clock seconds --coefficients {found.text}")
