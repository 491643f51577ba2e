"""The argument that says how output lengths are predicted."""

from __future__ import annotations

import argparse

from engine.demand.predictions import read_predictions, with_predictions
from engine.fields import number_in
from engine.workload import Workload

LOOKS = (
    "exact | lognormal:bias=1,spread=0.5 | interval:width=1 | bucket:size=100 | class-mean | none"
)


def add_predict_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--predict",
        metavar="MODEL",
        help=f"what policies know of output lengths: {LOOKS} (default exact, or what a trace says)",
    )


def predicted(workload: Workload, arguments: argparse.Namespace) -> Workload:
    """A trace's requests, with the predictions that were asked for instead of its own."""
    if arguments.predict is None:
        return workload
    seed = number_in("--seed", arguments.seed or 0, 0, 2**32 - 1, whole=True)
    return with_predictions(workload, read_predictions(arguments.predict), seed)
