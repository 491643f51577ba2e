"""What to change next: one thing at a time, a tenth better, and the rate that it buys.

Each lever is a new bisection with the same seeds, so that the change of the rate is the
lever's doing and not luck. What buys most names the resource that binds: memory, or the part
of a round's time that weighs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from engine import wording
from engine.capacity.objective import Objective
from engine.capacity.question import Question
from engine.capacity.rate import Capacity, RateSearch, largest_rates
from engine.machine.clock import StepTime
from engine.measure.slo import Slo
from engine.memory_curve import memory_curve
from engine.progress import Progress, silent
from engine.scale_out import HERE

BY = 0.1
MEMORY, SPEED, LIMITS = "memory", "speed", "limits"
PARTS = {  # coefficient: what it stands for
    "c0": "reading the weights",
    "c1": "computing tokens",
    "c2": "reading the KV cache",
    "c3": "handling the batch",
}
ALIKE = 0.8  # of the most that a lever buys: what buys so much binds too
WORTH = 0.01  # of the rate; what buys less is sentence apart from nothing by no one


@dataclass(frozen=True)
class Lever:
    """One change.

    Attributes
    ----------
    title : "+10 % M"
    kind : memory, speed, limits, or a coefficient of PARTS
    question : what is asked with it
    """

    title: str
    kind: str
    question: Question


@dataclass(frozen=True)
class LeverEffect:
    """What a lever buys: the rate with it over the rate without, minus one."""

    title: str
    kind: str
    rate: float
    gain: float


def levers(question: Question) -> list[Lever]:
    """More memory; on a GPU, its speed as a whole and by parts; looser limits."""
    percent = f"{100 * BY:g}\u202f%"
    deployment, objective, step = (
        question.deployment,
        question.objective,
        question.deployment.clock.step,
    )

    def served_by(**changed) -> Question:
        return replace(question, deployment=replace(deployment, **changed))

    def timed_by(step: StepTime) -> Question:
        return served_by(clock=replace(deployment.clock, step=step))

    more = served_by(memory=round(deployment.memory * (1 + BY)))
    pulled = [Lever(f"{percent} more M", MEMORY, more)]
    if not deployment.clock.is_rounds:
        quicker = StepTime(*(value / (1 + BY) for value in step))._replace(n0=step.n0)
        pulled.append(Lever(f"a GPU {percent} faster", SPEED, timed_by(quicker)))
        for name, what in PARTS.items():
            value = getattr(step, name)
            if value > 0:
                part = timed_by(step._replace(**{name: value / (1 + BY)}))
                pulled.append(Lever(f"{percent} faster {what}", name, part))
    if objective.has_limits:
        looser = replace(question, objective=_looser(objective))
        pulled.append(Lever(f"{percent} looser limits", LIMITS, looser))
    return pulled


def _looser(objective: Objective) -> Objective:
    def loose(slo: Slo) -> Slo:
        return Slo(**{name: limit * (1 + BY) for name, limit in slo.limits.items()})

    by_class = tuple((name, loose(slo)) for name, slo in objective.by_class)
    return replace(objective, slo=loose(objective.slo), by_class=by_class)


def effects(
    capacity: Capacity, question: Question, on: str = HERE, progress: Progress = silent
) -> list[LeverEffect]:
    """What each lever buys, most first; nothing where there is no rate to begin with."""
    if capacity.rate is None or capacity.is_least:
        return []
    tried = levers(question)
    searches = [RateSearch(capacity.choice, lever.question) for lever in tried]
    bought = [
        LeverEffect(tried[k].title, tried[k].kind, with_it.rate, with_it.rate / capacity.rate - 1)
        for k, with_it in sorted(largest_rates(searches, on, progress), key=itemgetter(0))
        if with_it.rate is not None
    ]
    return sorted(bought, key=lambda effect: -effect.gain)


def memory_use(capacity: Capacity, question: Question) -> float:
    """The share of M that is held on average at the largest rate of the first seed."""
    workload = question.draws.at(capacity.borders[0].carries, question.seeds[0])
    run = question.run(capacity.choice, workload)
    held = [memory_curve(part).mean for part in run.parts]
    return sum(held) / len(held) / question.deployment.memory


def binding(effects: Sequence[LeverEffect]) -> tuple[str, ...]:
    """What buys most, of memory, speed and limits, and what buys nearly as much; may be none."""
    whole = [effect for effect in effects if effect.kind not in PARTS and effect.gain >= WORTH]
    return tuple(effect.kind for effect in whole if effect.gain >= ALIKE * whole[0].gain)


def in_words(label: str, effects: Sequence[LeverEffect], used: float) -> str:
    """What binds, and what each lever buys."""
    if not effects:
        return f"There is no largest rate of {label} to improve on."
    bought = [effect for effect in effects if effect.gain >= WORTH]
    held = f"at its largest rate **{label}** holds {wording.percent(used)} of M on average"
    buys = "; ".join(f"{e.title} buys {wording.percent(e.gain)} of rate" for e in bought[:3])
    return f"{_what_binds(effects)}: {held}." + (f" {buys}." if buys else "")


def _what_binds(effects: Sequence[LeverEffect]) -> str:
    names = {MEMORY: "memory", SPEED: "the GPU's time", LIMITS: "the limits themselves"}
    kinds = [names[kind] for kind in binding(effects)]
    if not kinds:
        return "No change of a tenth buys a hundredth more"
    sentence = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    sentence = f"{sentence[0].upper()}{sentence[1:]} {'bind alike' if len(kinds) > 1 else 'binds'}"
    if SPEED in binding(effects):
        return f"{sentence} (most of it {_weightiest(effects)})"
    return sentence.replace("themselves binds", "themselves bind")


def _weightiest(effects: Sequence[LeverEffect]) -> str:
    parts = [effect for effect in effects if effect.kind in PARTS]
    return PARTS[max(parts, key=lambda effect: effect.gain).kind]
