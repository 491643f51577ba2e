"""What a study found, in sentences and as a table."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from engine import wording
from engine.demand.predictions import MODELS, LognormalError, Predictions
from engine.uncertainty.axis import MARGIN, Axis
from engine.uncertainty.best import reigns
from engine.uncertainty.break_even import BreakEven, break_evens
from engine.uncertainty.margin import Advice, advise
from engine.uncertainty.pairs import Calibration
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.study import takes_margin

if TYPE_CHECKING:
    import pandas as pd

OWN_PREDICTIONS = "the requests' own predictions"
MOST_PARTS = 2  # between the first and the last that a sentence names


def errs_in_words(model: Predictions) -> str:
    """How predictions err, without the names of the command line."""
    if not isinstance(model, LognormalError):
        values = (
            f"{field.name} {wording.told(getattr(model, field.name))}"
            for field in fields(cast(Any, model))
        )
        title = f"{model.title[0].lower()}{model.title[1:]}"
        return ", ".join([title, *values])
    within = f"two in three within a factor of {wording.number(math.exp(model.spread))}"
    return within if model.bias == 1 else f"{within} of {model.bias:g} times the true output"


def errors_in_words(model: Predictions, whose: str = "", is_assumed: bool = False) -> str:
    """How predictions err in a study of margins, and whose choice that was.

    Parameters
    ----------
    whose : the record of errors that the model draws from, where it does
    is_assumed : whether nobody chose the model
    """
    if model.key not in MODELS:
        return f"errors as in {whose}"
    return (
        f"assumed, since none is chosen: {errs_in_words(model)}"
        if is_assumed
        else errs_in_words(model)
    )


def headline(pooled: Pooled, axis: Axis) -> str:
    """The study in one sentence: who is best where, and when predictions stop paying."""
    if axis.key == MARGIN:
        return _margin_headline(pooled)
    parts, first, last = reigns(pooled), float(pooled.values[0]), float(pooled.values[-1])
    best = parts[0]
    if len(parts) == 1 and not _uses_lengths(pooled, best.label):
        return (
            f"Predictions do not pay here: **{best.label}**, which uses no lengths, has the lowest "
            f"mean latency at every {axis.title}."
        )
    if len(parts) == 1:
        return (
            f"**{best.label}** has the lowest mean latency at every {axis.title} from {first:g} to "
            f"{last:g}; {_costs(pooled, best.label)}."
        )
    between = parts[1:-1]
    named = [f"**{part.label}** up to {part.until:.2g}" for part in between[:MOST_PARTS]]
    if len(between) > MOST_PARTS:
        named = [f"others up to {between[-1].until:.2g}"]
    end = parts[-1].label
    then = f"**{end}**" + ("" if _uses_lengths(pooled, end) else ", which uses no lengths")
    return (
        f"**{best.label}** has the lowest mean latency up to a {axis.title} of {best.until:.2g}, "
        + "".join(f"{part}, " for part in named)
        + f"beyond that {then}."
    )


def _uses_lengths(pooled: Pooled, label: str) -> bool:
    return pooled.choices[label].policy.uses_lengths


def break_evens_in_words(pooled: Pooled, axis: Axis) -> str:
    """When the best policy stops paying against the best that uses no lengths."""
    by_label = {at.label: at for at in break_evens(pooled)}
    best = by_label.get(reigns(pooled)[0].label)
    if best is None or axis.key == MARGIN:
        return ""
    rival = f"**{best.rival}**, the best here that uses no lengths"
    if np.isfinite(best.at):
        where = f"{best.at:.2g}{_range(best, float(pooled.values[-1]))}"
        return f"**{best.label}** stops paying against {rival}, at {where}."
    return f"**{best.label}** pays against {rival}, at every value tried."


def _range(break_even: BreakEven, last: float) -> str:
    """How sure a break-even is, where several draws tell."""
    if break_even.earliest == break_even.latest:
        return ""
    latest = f"{break_even.latest:.2g}" if np.isfinite(break_even.latest) else f"beyond {last:g}"
    return f" (95 %: {break_even.earliest:.2g} to {latest})"


def _costs(pooled: Pooled, label: str) -> str:
    """What the worst value of the axis costs a policy, against the best one."""
    mean = pooled.band(label, "latency").mean
    worst, best = int(np.nanargmax(mean)), int(np.nanargmin(mean))
    more = wording.percent(mean[worst] / mean[best] - 1)
    return (
        f"its mean latency is {more} higher at {pooled.values[worst]:g} than at "
        f"{pooled.values[best]:g}"
    )


def _margin_headline(pooled: Pooled) -> str:
    advised = advices(pooled)
    if not advised:
        return "No policy here has a margin to set: pick one that looks ahead."
    sentence = margin_in_words(advised[0])
    pays = [advice for advice in advised[1:] if advice.margin > 0]
    if pays and advised[0].margin == 0:
        most = max(pays, key=lambda advice: advice.saved)
        return f"{sentence} A margin pays most for {_gain(most)}."
    return sentence


def advices(pooled: Pooled) -> list[Advice]:
    """The margins of the policies that have one, the lowest mean latency first."""
    labels = [label for label, choice in pooled.choices.items() if takes_margin(choice.policy)]
    every = [advice for label in labels if (advice := advise(pooled, label))]
    return sorted(every, key=lambda advice: advice.latency)


def margin_in_words(advice: Advice) -> str:
    """One policy's margin in one sentence."""
    if advice.margin == 0:
        return (
            f"**{advice.label}** needs no margin: none of those tried saves it 1 % of its latency."
        )
    return f"Set a margin for {_gain(advice)}."


def _gain(advice: Advice) -> str:
    sure = f" (± {wording.percent(advice.half)})" if advice.half > 0 else ""
    return (
        f"**{advice.label}**: {wording.percent(advice.margin)} of M cuts its mean latency by "
        f"{wording.percent(advice.saved)}{sure}, and its preemptions from "
        f"{wording.number(advice.preemptions_without)} to {wording.number(advice.preemptions)}"
    )


def table(pooled: Pooled, axis: Axis) -> pd.DataFrame:
    """One row a policy: mean latency along the axis, and what follows from it."""
    import pandas as pd  # slow to import

    places = sorted({0, len(pooled.values) // 4, len(pooled.values) // 2, len(pooled.values) - 1})
    by_label = {at.label: at for at in break_evens(pooled)}
    rows = []
    for label in pooled.choices:
        mean = pooled.band(label, "latency").mean
        row = {"Policy": label}
        row |= {f"At {pooled.values[k]:g}": wording.number(mean[k]) for k in places}
        if axis.key == MARGIN:
            takes = takes_margin(pooled.choices[label].policy)
            advice = advise(pooled, label) if takes else None
            row["Recommended"] = wording.percent(advice.margin) if advice else "–"
        else:
            row["Stops paying at"] = _stops(by_label.get(label), pooled)
        rows.append(row)
    return pd.DataFrame(rows)


def _stops(break_even: BreakEven | None, pooled: Pooled) -> str:
    if break_even is None:
        return "uses no lengths"
    if not np.isfinite(break_even.at):
        return f"beyond {pooled.values[-1]:g}"
    if break_even.at <= pooled.values[0]:
        return "never pays"
    return f"{break_even.at:.2g}{_range(break_even, float(pooled.values[-1]))}"


def long_table(pooled: Pooled) -> pd.DataFrame:
    """One row a policy and value, for download: means and half widths of their 95 % intervals."""
    import pandas as pd  # slow to import

    rows = []
    for label in pooled.choices:
        columns: dict[str, object] = {"policy": label, "value": pooled.values}
        for metric in ("latency", "preemptions", "wasted", "gap"):
            band = pooled.band(label, metric)
            columns |= {metric: band.mean, f"{metric}_half": band.half}
        columns |= {"overloaded": pooled.overloaded(label), "draws": len(pooled.draws)}
        columns |= {"requests": pooled.requests, "set_aside": pooled.set_aside}
        rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def calibration_in_words(calibration: Calibration) -> str:
    """How a predictor errs, in two sentences or three."""
    way = "long" if calibration.bias >= 1 else "short"
    factor = calibration.bias if calibration.bias >= 1 else 1 / calibration.bias
    off = "right in the median" if factor < 1.02 else f"too {way} by {wording.ratio(factor)}"
    sentences = (
        f"Over {wording.counted(calibration.pairs, 'request')} the predictor is {off}, with a "
        f"spread of {calibration.spread:.2g}: {wording.percent(calibration.within)} of its "
        "predictions are within a factor of 1.5, and "
        f"{wording.percent(calibration.short)} are too short."
    )
    if calibration.coverage is not None:
        held = wording.percent(calibration.coverage)
        sentences += f" Its intervals hold {held} of the true outputs."
    return sentences
