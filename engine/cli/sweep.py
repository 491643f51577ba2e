"""Run policies over every combination of the values of one or more parameters."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from math import prod

from engine import wording
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.limit_arguments import add_limit_arguments, read_objective
from engine.cli.numbers import number
from engine.cli.policy_arguments import read_choices
from engine.cli.results import print_json
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.sweep_arguments import add_sweep_arguments, progress_on_stderr
from engine.errors import InputError
from engine.experiment import Experiment
from engine.fields import number_in
from engine.fleet import Topology, check_topology
from engine.scale_out import where
from engine.sweeps.parameters import Parameter, Setting, find_parameter
from engine.sweeps.reading import read_each

MOST_CELLS = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    add_limit_arguments(parser)
    add_sweep_arguments(parser)
    parser.add_argument(
        "--knob",
        action="append",
        required=True,
        metavar="NAME=A,B,.. | NAME=LOW:HIGH:COUNT",
        help="what to turn: memory, rate, share, n, error or width of predictions, replicas or a "
        "parameter, repeatable",
    )
    parser.add_argument("--replicas", type=number, default=1, metavar="G", help="servers (1)")


def run(arguments: argparse.Namespace) -> None:
    servers = Topology(arguments.replicas)
    check_topology(servers)
    deployment = replace(read_deployment(arguments), topology=servers)
    objective = read_objective(arguments)
    experiment = Experiment(read_source(arguments), deployment)
    choices = read_choices(arguments, deployment.quick(experiment.requests))
    experiment = experiment.choosing(choices)
    axes = [_read_axis(experiment, text) for text in arguments.knob]
    _check(axes)
    settings = _settings(axes)
    on, progress = where(arguments.scheduler), progress_on_stderr("cells")
    readings = dict(read_each(experiment, settings, objective, on, progress))
    cells = [
        {**dict(setting), "policy": choice.key, **_row(reading)}
        for number, setting in enumerate(settings)
        for choice, reading in zip(choices, readings[number], strict=True)
    ]
    if arguments.format == "json":
        knobs = {parameter.name: values for parameter, values in axes}
        about = {"clock": arguments.clock, **engine_row(deployment.engine)}
        about |= {"percentile": objective.percent, "knobs": knobs}
        print_json({**about, "cells": cells, "remarks": arguments.remarks})
        return
    print(_table(cells, [parameter.name for parameter, _ in axes], objective.percent))


Axis = tuple[Parameter, list[float]]  # what is varied, and its values


def _settings(axes: list[Axis]) -> list[Setting]:
    """Every combination of the values."""
    names = [parameter.name for parameter, _ in axes]
    every = product(*(values for _, values in axes))
    return [tuple(zip(names, values, strict=True)) for values in every]


def _row(reading) -> dict:
    """The numbers of a cell; all null where the policy cannot run there."""
    if reading is None:
        return {"ran": False}
    share = reading.set_aside_share
    return {"ran": True, **asdict(reading), "set_aside_share": share, "met": reading.is_met}


def _read_axis(experiment: Experiment, text: str) -> Axis:
    name, equals, listed = text.partition("=")
    parameter = find_parameter(experiment, name)
    if not equals or not listed:
        raise InputError(f"--knob must look like {name}=1,2,3 or {name}=1:9:5, got {text}")
    try:
        if ":" in listed:
            low, high, count = listed.split(":")
            cells = number_in("the count of a knob", int(count), 2, MOST_CELLS, whole=True)
            return parameter, parameter.values(cells, float(low), float(high))
        values = [parameter.read(float(value)) for value in listed.split(",")]
    except InputError:
        raise
    except ValueError:
        raise InputError(f"--knob {text}: cannot read the numbers of {listed}") from None
    return parameter, list(dict.fromkeys(values))


def _check(axes: list[Axis]) -> None:
    names = [parameter.name for parameter, _ in axes]
    if len(set(names)) < len(names):
        raise InputError(f"a knob is given twice: {', '.join(names)}")
    number_in(
        "cells of the sweep", prod(len(values) for _, values in axes), 1, MOST_CELLS, whole=True
    )


def _table(cells: list[dict], names: list[str], percent: float) -> str:
    import pandas as pd  # slow to import

    return pd.DataFrame(list(_written(cells, names, percent))).to_string(index=False)


def _written(cells: list[dict], names: list[str], percent: float) -> Iterator[dict]:
    for row in cells:
        stands = {name: wording.number(row[name]) for name in names}
        if not row["ran"]:
            yield {**stands, "policy": row["policy"], "verdict": "cannot run"}
            continue
        yield {
            **stands,
            "policy": row["policy"],
            "mean latency": wording.number(row["mean_latency"]),
            f"P{percent:g} TTFT": wording.number(row["ttft"]),
            f"P{percent:g} TPOT": wording.number(row["tpot"]),
            "set aside": wording.percent(row["set_aside_share"]),
            "within": wording.percent(row["attainment"]),
            "preemptions": wording.count(row["preemptions"]),
            "verdict": row["verdict"] + ("" if row["certain"] else " (not certain)"),
        }
