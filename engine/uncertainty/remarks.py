"""What goes with the answer of a study: on the page, in JSON and on stderr."""

from __future__ import annotations

from collections.abc import Sequence

from engine import wording
from engine.choice import Choice
from engine.measure.set_aside import who_is_set_aside
from engine.uncertainty.axis import MARGIN
from engine.uncertainty.pooled import Pooled
from engine.uncertainty.study import DEAR, Study
from engine.workload import Workload


def remarks(
    pooled: Pooled, study: Study, errors: str = "", left_out: Sequence[Choice] = ()
) -> list[str]:
    """What errs, who never runs, who is overloaded, not served or left out: a sentence each.

    Parameters
    ----------
    errors : how predictions err, where that is not what is varied
    left_out : policies that were chosen and whose runs take too long
    """
    sentences = study.deployment.engine.remarks
    if study.axis.key == MARGIN:
        sentences.append(f"Predictions: {errors}.")
    sentences += _set_aside(pooled, study)
    sentences += _overloaded(pooled)
    if study.experiment.workload.admission_limits.loses_requests:
        sentences.append("Latencies are of those who were served.")
    if left_out:
        names = ", ".join(choice.label for choice in left_out)
        sentences.append(f"Left out, as a run takes above {DEAR:g} s: {names}.")
    return sentences


def _set_aside(pooled: Pooled, study: Study) -> list[str]:
    """Who never runs, of all draws; requests that were given are the same in each."""
    if isinstance(study.experiment.source, Workload):
        pooled = Pooled(pooled.draws[:1])
    return who_is_set_aside({"": pooled.aside}, pooled.requests + pooled.set_aside)


def _overloaded(pooled: Pooled) -> list[str]:
    """Whose latencies grow with the number of requests, and where, those alike together."""
    labels: dict[tuple[bool, ...], list[str]] = {}
    for label in pooled.choices:
        labels.setdefault(tuple(map(bool, pooled.overloaded(label))), []).append(label)
    sentences = []
    for where, those in labels.items():
        at = [f"{value:g}" for value, over in zip(pooled.values, where, strict=True) if over]
        if at:
            listed = "every value" if all(where) else wording.listed(at)
            sentences.append(
                f"Overloaded at {listed}, where latencies grow with the horizon: "
                f"{', '.join(those)}."
            )
    return sentences
