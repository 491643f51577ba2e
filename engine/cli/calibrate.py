"""Fit the round times of a server to a benchmark result with per-request timings."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from engine import wording
from engine.calibrate import Benchmark, Fit, Rounds, fit, fitted_preset, read_benchmark, see_rounds
from engine.calibrate.fit import NAMES
from engine.calibrate.fitted import Served
from engine.calibrate.remarks import remarks
from engine.cli.numbers import number
from engine.cli.remarks import remark
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
        fitted = fit(rounds)
    except InputError as problem:
        raise InputError(f"{Path(arguments.file).name}: {problem}") from None
    saved = None
    if arguments.save is not None:
        source = Path(arguments.file).name
        saved = save(fitted_preset(arguments.save, fitted, source, bench.server, served))
    remark(arguments, remarks(bench, fitted))
    if arguments.format == "json":
        about = {"saved": saved and saved.key, "remarks": arguments.remarks}
        print_json({**as_result(bench, rounds, fitted), **about})
    else:
        print_table(bench, rounds, fitted)
        if saved:
            print(f"saved as {saved.title}: --clock seconds --hardware {saved.key}")


def _served(arguments: argparse.Namespace) -> Served:
    """What the user says of the server; InputError for models and GPUs that are not known."""
    for option, known in (("model", models()), ("gpu", gpus())):
        key = getattr(arguments, option)
        if key is not None and key not in known:
            raise InputError(f"unknown {option} {key}: choose from {', '.join(known)}")
    parallel = number_in("--tensor-parallel", arguments.tensor_parallel, 1, 1024, whole=True)
    return Served(arguments.models or "", arguments.model or "", arguments.gpu or "", int(parallel))


def as_result(bench: Benchmark, rounds: Rounds, fitted: Fit) -> dict:
    low, middle, high = np.percentile(100 * fitted.residual, PERCENTILES)
    return {
        "models": bench.server,
        "requests": len(bench.prompt),
        "requests_left_out": bench.left_out,
        "rounds_seen": rounds.seen,
        "rounds_fitted": len(fitted.rounds),
        "rounds_far_off": fitted.left_out,
        "coefficients": dict(zip(NAMES, fitted.step, strict=True)),
        "standard_errors": dict(zip(NAMES, fitted.error.tolist(), strict=True)),
        "undecided": fitted.undecided,
        "mean_error_percent": fitted.error_percent,
        "residual_percent": {"p5": low, "p50": middle, "p95": high},
        "text": fitted.text,
    }


def print_table(bench: Benchmark, rounds: Rounds, fitted: Fit) -> None:
    count = wording.count
    print(f"models {bench.server or 'a server that the file does not name'}")
    print(
        f"{wording.counted(len(bench.prompt), 'request')}, "
        f"{wording.counted(rounds.seen, 'round')} seen, "
        f"{count(len(fitted.rounds))} of known length fitted, {count(fitted.left_out)} far off"
    )
    for name, value, error in zip(NAMES, fitted.step, fitted.error, strict=True):
        sure = f"± {wording.number(2 * error)}" if np.isfinite(error) else fitted.undecided[name]
        print(f"{name:>3} = {value:.6g} {UNITS[name]}  ({sure})")
    low, middle, high = np.percentile(100 * fitted.residual, PERCENTILES)
    print(
        f"mean error {fitted.error_percent:.2f} %; residuals P5 {low:+.1f} %, "
        f"P50 {middle:+.1f} %, P95 {high:+.1f} %"
    )
    print(f"--clock seconds --coefficients {fitted.text}")
