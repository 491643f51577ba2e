"""Run policies over every combination of one or more knobs' values."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product

import pandas as pd

from engine import wording
from engine.cli.clock_arguments import read_clock
from engine.cli.limit_arguments import add_limit_arguments, read_objective
from engine.cli.numbers import number
from engine.cli.results import print_json
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.cli.simulate import read_params
from engine.cli.sweep_arguments import add_sweep_arguments, progress_on_stderr
from engine.errors import InputError
from engine.fields import number_in
from engine.fleet import Topology
from engine.policy import find_policy, quick_policies
from engine.scale_out import where
from engine.sweeps.parameters import Experiment, Parameter, Turns, find_parameter
from engine.sweeps.reading import read_each
from engine.workload import check_memory

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
    memory = check_memory(arguments.memory)
    clock = read_clock(arguments)
    objective = read_objective(arguments)
    source = read_source(arguments, memory)
    experiment = Experiment(source, memory, (), clock, Topology(arguments.replicas))
    experiment = replace(experiment, picks=_picks(arguments, experiment.requests))
    turned = [_read_knob(experiment, text) for text in arguments.knob]
    _check(turned)
    turns = _turns(turned)
    given = (experiment, turns, objective, where(arguments.scheduler), progress_on_stderr("cells"))
    readings = dict(read_each(*given))
    cells = [
        {**dict(stands), "policy": key, **_row(reading)}
        for number, stands in enumerate(turns)
        for (key, _), reading in zip(experiment.picks, readings[number], strict=True)
    ]
    if arguments.format == "json":
        knobs = {knob.name: values for knob, values in turned}
        print_json({"clock": arguments.clock, "percentile": objective.percent, "knobs": knobs,
                    "cells": cells})  # fmt: skip
        return
    print(_table(cells, [knob.name for knob, _ in turned], objective.percent))


def _turns(turned: list[tuple[Parameter, list[float]]]) -> list[Turns]:
    """Every combination of the values."""
    names = [knob.name for knob, _ in turned]
    every = product(*(values for _, values in turned))
    return [tuple(zip(names, values, strict=True)) for values in every]


def _row(reading) -> dict:
    """The numbers of a cell; all null where the policy cannot run there."""
    if reading is None:
        return {"ran": False}
    return {"ran": True, **asdict(reading), "met": reading.is_met}


def _picks(arguments: argparse.Namespace, n: int):
    params = read_params(arguments.param)
    keys = list(dict.fromkeys(arguments.policy or quick_policies(n)))
    for key in params.keys() - set(keys):
        raise InputError(f"a parameter of {key} is given, but {key} is not among the policies")
    return tuple(
        (key, tuple(find_policy(key).read_params(params.get(key, {})).items())) for key in keys
    )


def _read_knob(experiment: Experiment, text: str) -> tuple[Parameter, list[float]]:
    name, equals, given = text.partition("=")
    knob = find_parameter(experiment, name)
    if not equals or not given:
        raise InputError(f"--knob must look like {name}=1,2,3 or {name}=1:9:5, got {text}")
    try:
        if ":" in given:
            low, high, count = given.split(":")
            cells = number_in("the count of a knob", int(count), 2, MOST_CELLS, whole=True)
            return knob, knob.values(cells, float(low), float(high))
        values = [knob.read(float(value)) for value in given.split(",")]
    except InputError:
        raise
    except ValueError:
        raise InputError(f"--knob {text}: cannot read the numbers of {given}") from None
    return knob, list(dict.fromkeys(values))


def _check(turned: list[tuple[Parameter, list[float]]]) -> None:
    names = [knob.name for knob, _ in turned]
    if len(set(names)) < len(names):
        raise InputError(f"a knob is given twice: {', '.join(names)}")
    cells = 1
    for _, values in turned:
        cells *= len(values)
    number_in("cells of the sweep", cells, 1, MOST_CELLS, whole=True)


def _table(cells: list[dict], names: list[str], percent: float) -> str:
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
            "within": wording.percent(row["attainment"]),
            "preemptions": wording.count(row["preemptions"]),
            "verdict": row["verdict"] + ("" if row["certain"] else " (not certain)"),
        }
