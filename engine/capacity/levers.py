"""What to change next: one thing at a time, a tenth better, and the rate that it buys.

Each lever is a new bisection with the same seeds, so that the change of the rate is the
lever's doing and not luck. What buys most names the resource that binds: memory, or the part
of a round's time that weighs most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from engine import wording
from engine.capacity.draws import Draws
from engine.capacity.objective import Objective
from engine.capacity.rate import Capacity, Server, largest_rates
from engine.fleet import ONE_SERVER, Topology
from engine.machine.clock import Clock, StepTime
from engine.measure.slo import Slo
from engine.memory_curve import memory_curve
from engine.policy import Policy
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
WORTH = 0.01  # of the rate; what buys less is told apart from nothing by no one


@dataclass(frozen=True)
class Lever:
    """One change.

    Attributes
    ----------
    title : "+10 % M"
    kind : memory, speed, limits, or a coefficient of PARTS
    memory, clock, objective : what there is with it
    """

    title: str
    kind: str
    memory: int
    clock: Clock
    objective: Objective


@dataclass(frozen=True)
class LeverEffect:
    """What a lever buys: the rate with it over the rate without, minus one."""

    title: str
    kind: str
    rate: float
    gain: float


def levers(memory: int, clock: Clock, objective: Objective) -> list[Lever]:
    """More memory; on a GPU, its speed as a whole and by parts; looser limits."""
    percent = f"{100 * BY:g}\u202f%"
    found = [Lever(f"{percent} more M", MEMORY, round(memory * (1 + BY)), clock, objective)]
    if not clock.is_rounds:
        quicker = StepTime(*(value / (1 + BY) for value in clock.step))._replace(n0=clock.step.n0)
        faster = replace(clock, step=quicker)
        found.append(Lever(f"a GPU {percent} faster", SPEED, memory, faster, objective))
        for name, told in PARTS.items():
            value = getattr(clock.step, name)
            if value > 0:
                step = clock.step._replace(**{name: value / (1 + BY)})
                title = f"{percent} faster {told}"
                found.append(Lever(title, name, memory, replace(clock, step=step), objective))
    if objective.has_limits:
        found.append(Lever(f"{percent} looser limits", LIMITS, memory, clock, _looser(objective)))
    return found


def _looser(objective: Objective) -> Objective:
    def loose(slo: Slo) -> Slo:
        return Slo(**{name: limit * (1 + BY) for name, limit in slo.limits.items()})

    by_class = tuple((name, loose(slo)) for name, slo in objective.by_class)
    return replace(objective, slo=loose(objective.slo), by_class=by_class)


def effects(
    policy: Policy,
    params: Mapping,
    draws: Draws,
    memory: int,
    capacity: Capacity,
    objective: Objective,
    clock: Clock,
    topology: Topology = ONE_SERVER,
    progress: Progress = silent,
    on: str = HERE,
) -> list[LeverEffect]:
    """What each lever buys, most first; nothing where there is no rate to begin with."""
    if capacity.rate is None or capacity.is_least:
        return []
    tried = levers(memory, clock, objective)
    changed = [
        Server(policy, params, draws, lever.memory, lever.objective, lever.clock, topology)
        for lever in tried
    ]
    found = [
        LeverEffect(tried[k].title, tried[k].kind, with_it.rate, with_it.rate / capacity.rate - 1)
        for k, with_it in sorted(largest_rates(changed, on, progress), key=itemgetter(0))
        if with_it.rate is not None
    ]
    return sorted(found, key=lambda effect: -effect.gain)


def memory_use(
    policy: Policy,
    params: Mapping,
    draws: Draws,
    memory: int,
    capacity: Capacity,
    clock: Clock,
    topology: Topology = ONE_SERVER,
) -> float:
    """The share of M that is held on average at the largest rate of the first seed."""
    workload = draws.at(capacity.borders[0].carries, draws.seeds[0])
    run = topology.run(policy, workload, memory, clock=clock, **params)
    held = [memory_curve(part).mean for part in run.parts]
    return sum(held) / len(held) / memory


def binding(found: Sequence[LeverEffect]) -> tuple[str, ...]:
    """What buys most, of memory, speed and limits, and what buys nearly as much; may be none."""
    whole = [effect for effect in found if effect.kind not in PARTS and effect.gain >= WORTH]
    return tuple(effect.kind for effect in whole if effect.gain >= ALIKE * whole[0].gain)


def in_words(label: str, found: Sequence[LeverEffect], used: float) -> str:
    """What binds, and what each lever buys."""
    if not found:
        return f"There is no largest rate of {label} to improve on."
    bought = [effect for effect in found if effect.gain >= WORTH]
    held = f"at its largest rate **{label}** holds {wording.percent(used)} of M on average"
    buys = "; ".join(f"{e.title} buys {wording.percent(e.gain)} of rate" for e in bought[:3])
    return f"{_what_binds(found)}: {held}." + (f" {buys}." if buys else "")


def _what_binds(found: Sequence[LeverEffect]) -> str:
    names = {MEMORY: "memory", SPEED: "the GPU's time", LIMITS: "the limits themselves"}
    kinds = [names[kind] for kind in binding(found)]
    if not kinds:
        return "No change of a tenth buys a hundredth more"
    told = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    told = f"{told[0].upper()}{told[1:]} {'bind alike' if len(kinds) > 1 else 'binds'}"
    if SPEED in binding(found):
        return f"{told} (most of it {_weightiest(found)})"
    return told.replace("themselves binds", "themselves bind")


def _weightiest(found: Sequence[LeverEffect]) -> str:
    parts = [effect for effect in found if effect.kind in PARTS]
    return PARTS[max(parts, key=lambda effect: effect.gain).kind]
