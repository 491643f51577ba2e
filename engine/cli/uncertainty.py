"""Say what wrong predictions of output lengths cost, and which margin to set."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from engine.choice import Choice
from engine.cli.deployment_arguments import read_deployment
from engine.cli.engine_argument import engine_row
from engine.cli.numbers import number
from engine.cli.policy_arguments import read_choices
from engine.cli.remarks import remark
from engine.cli.results import print_json, requests_line
from engine.cli.scenario_arguments import add_source_arguments, read_source
from engine.demand.predictions import EXACT, LognormalError, Predictions, read_predictions
from engine.demand.scenario import Scenario
from engine.errors import InputError
from engine.experiment import Experiment
from engine.fields import number_in
from engine.uncertainty.axis import AXES, MARGIN, find_axis
from engine.uncertainty.break_even import break_evens
from engine.uncertainty.margin import advise
from engine.uncertainty.pairs import Pairs, calibrate, pairs_of, read_pairs
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.remarks import remarks
from engine.uncertainty.resampled import resampled
from engine.uncertainty.study import SEEDS, Study, draw, takes_margin
from engine.uncertainty.words import (
    OWN_PREDICTIONS,
    break_evens_in_words,
    calibration_in_words,
    errors_in_words,
    headline,
    table,
)

USUAL = ("vllm", "fcfs", "mc-sf", "svf", "a-max", "a-min")
MOST_DRAWS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser)
    parser.add_argument(
        "--axis", default="error", metavar="AXIS", help=f"what to vary: {', '.join(AXES)} (error)"
    )
    parser.add_argument(
        "--draws", type=number, default=SEEDS, metavar="N", help=f"seeds to pool ({SEEDS})"
    )
    parser.add_argument(
        "--pairs",
        metavar="FILE.csv",
        help="a record of your predictor, columns predicted and true: errors are drawn from it",
    )


def run(arguments: argparse.Namespace) -> None:
    deployment = read_deployment(arguments)
    axis = find_axis(arguments.axis)
    draws = number_in("--draws", arguments.draws, 1, MOST_DRAWS, whole=True)
    source = read_source(arguments)
    pairs = _pairs(arguments, source)
    model = _model(arguments, pairs)
    is_assumed = axis.key == MARGIN and model == EXACT
    if is_assumed:
        model = LognormalError()
    usual = [choice for choice in map(Choice, USUAL) if deployment.takes(choice)]
    choices = read_choices(arguments, usual)
    study = Study(Experiment(source, deployment, choices), axis, model)
    left_out = [choice for choice in choices if choice not in study.affordable]
    study = replace(study, experiment=study.experiment.choosing(study.affordable))
    first = arguments.seed or 0
    pooled = Pooled([draw(study, (first + k) % 2**32) for k in range(draws)])
    whose = OWN_PREDICTIONS if arguments.pairs is None else Path(arguments.pairs).name
    errors = errors_in_words(model, whose, is_assumed)
    remark(arguments, remarks(pooled, study, errors, left_out))
    if arguments.format == "json":
        about = {"clock": arguments.clock, **engine_row(deployment.engine)}
        about |= {"remarks": arguments.remarks}
        print_json({**_result(pooled, study, pairs), **about})
        return
    for sentence in _sentences(pooled, study, pairs):
        print(sentence.replace("**", ""))
    print(requests_line(pooled.requests, pooled.set_aside, deployment.memory))
    print(table(pooled, axis).to_string(index=False))


def _pairs(arguments: argparse.Namespace, source) -> Pairs | None:
    """The record that was given, or that a trace with predictions is."""
    if arguments.pairs is not None:
        return read_pairs(arguments.pairs)
    own = not isinstance(source, Scenario) and source.is_predicted and arguments.predict is None
    return pairs_of(source) if own else None


def _model(arguments: argparse.Namespace, pairs: Pairs | None) -> Predictions:
    if pairs is not None and arguments.predict is not None:
        raise InputError("give either --predict or --pairs, not both")
    if pairs is not None:
        return resampled(pairs)
    return EXACT if arguments.predict is None else read_predictions(arguments.predict)


def _sentences(pooled: Pooled, study: Study, pairs: Pairs | None) -> Iterator[str]:
    yield headline(pooled, study.axis)
    if break_evens := break_evens_in_words(pooled, study.axis):
        yield break_evens
    if pairs is not None:
        yield calibration_in_words(calibrate(pairs))


def _result(pooled: Pooled, study: Study, pairs: Pairs | None) -> dict:
    breaks = {at.label: at for at in break_evens(pooled)}
    policies = []
    for label, choice in pooled.choices.items():
        row: dict = {"policy": choice.key, "label": label}
        for metric in ("latency", "preemptions", "wasted", "gap"):
            band = pooled.band(label, metric)
            row[metric] = band.mean.tolist()
            row[f"{metric}_half"] = band.half.tolist()
        row["overloaded"] = pooled.overloaded(label).tolist()
        if study.axis.key != MARGIN:
            row["break_even"] = asdict(breaks[label]) if label in breaks else None
        elif takes_margin(choice.policy):
            advice = advise(pooled, label)
            row["margin"] = None if advice is None else advice.margin
        policies.append(row)
    return {
        "axis": study.axis.key,
        "values": list(study.axis.values),
        "draws": len(pooled.draws),
        "n": pooled.requests,
        "set_aside": pooled.set_aside,
        "set_aside_share": pooled.set_aside_share,
        "answer": headline(pooled, study.axis).replace("**", ""),
        "policies": policies,
        "calibration": None if pairs is None else asdict(calibrate(pairs)),
    }
