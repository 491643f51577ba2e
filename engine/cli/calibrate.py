"""Fit the round times of a server to a benchmark result with per-request timings."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from engine import wording
from engine.calibrate import Benchmark, Fit, Rounds, fit, fitted_preset, read_benchmark, see_rounds
from engine.calibrate.fit import NAMES
from engine.cli.numbers import number
from engine.cli.results import print_json
from engine.errors import InputError
from engine.fields import number_in
from engine.machine.catalogue import gpus, models
from engine.machine.own_presets import save

PERCENTILES = (5, 50, 95)
UNITS = {"c0": "s", "c1": "s a token", "N0": "tokens", "c2": "s a token", "c3": "s a request"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="JSON of vLLM's bench serve with --save-detailed"
    )
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument(
        "--save", metavar="NAME", help="keep the fit as a preset, for --hardware and the sidebar"
    )
    parser.add_argument(
        "--models", metavar="TEXT", help="engine and version, where the file does not say them"
    )
    parser.add_argument("--model", metavar="KEY", help=f"that it served: {', '.join(models())}")
    parser.add_argument("--gpu", metavar="KEY", help=f"that it ran on: {', '.join(gpus())}")
    parser.add_argument("--tensor-parallel", type=number, default=1, metavar="N", help="how many")


def run(arguments: argparse.Namespace) -> None:
    served = _served(arguments)
    try:
        bench = read_benchmark(arguments.file)
        rounds = see_rounds(bench)
        found = fit(rounds)
    except InputError as problem:
        raise InputError(f"{Path(arguments.file).name}: {problem}") from None
    saved = None
    if arguments.save is not None:
        source = Path(arguments.file).name
        saved = save(fitted_preset(arguments.save, found, source, **served, server=bench.server))
    if arguments.format == "json":
        print_json({**as_result(bench, rounds, found), "saved": saved and saved.key})
    else:
        print_table(bench, rounds, found)
        if saved:
            print(f"saved as {saved.title}: --clock seconds --hardware {saved.key}")


def _served(arguments: argparse.Namespace) -> dict:
    """What the user says of the server; InputError for models and GPUs that are not known."""
    for option, known in (("model", models()), ("gpu", gpus())):
        key = getattr(arguments, option)
        if key is not None and key not in known:
            raise InputError(f"unknown {option} {key}: choose from {', '.join(known)}")
    return {
        "engine": arguments.models or "",
        "model": arguments.model or "",
        "gpu": arguments.gpu or "",
        "tensor_parallel": number_in(
            "--tensor-parallel", arguments.tensor_parallel, 1, 1024, whole=True
        ),
    }


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
