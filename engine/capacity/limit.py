"""The largest rate that a policy keeps up with, whatever its users wait: what is carried for good.

Never above the certified ceiling (law.py), at most where the policy saturates (saturation.py), and
only where it works off a queue (drain.py). All three are of the law of the requests and of
the server with a queue, so no draw that was light by chance and no server that began empty lets a
larger rate pass. Runs that are short, or weigh every request alike, do: measured on the default
mix, 2,000 requests call 2.9 requests a second carried where 2.2 are, and the middle of a
backlog counts 1.98 requests a round under svf where .098 is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.capacity.border import bisect_factor
from engine.capacity.drain import drains
from engine.capacity.draws import STEADY
from engine.capacity.law import Ceiling, ceiling
from engine.capacity.question import Question
from engine.capacity.saturation import saturated
from engine.choice import Choice
from engine.errors import Livelock
from engine.measure.overload import verdict
from engine.progress import silent

RESOLVED = 0.004  # of a rate: nearer to where a policy saturates no run tells
LEAST = 0.25  # of that rate: a policy that carries less from a queue is said to carry nothing
AFTER_EMPTY = 1.1  # of that rate: where an empty server keeps up with so much, both are told
LIGHT = 0.97  # of the load of the law: a draw with less says nothing of it


@dataclass(frozen=True)
class Limit:
    """What a policy keeps up with, in one draw.

    Attributes
    ----------
    carries : the largest rate that passed; 0 where none did
    fails : a rate above it that is not kept up with
    ceiling : the certified one
    of : the resource that binds, of engine/measure/need.py
    use : the share in use of each resource, by its name, at saturation
    """

    carries: float
    fails: float
    ceiling: float
    of: str
    use: tuple[tuple[str, float], ...] = ()


def is_in_reach(top: Ceiling, question: Question) -> bool:
    """Whether requests can be drawn that come faster than anybody serves them."""
    return question.draws.reaches(1.15 * top.rate)


def ceiling_of(choice: Choice, question: Question) -> Ceiling:
    """The certified ceiling of what is asked."""
    return ceiling(choice, question.draws.source, question.deployment)


def limit(choice: Choice, question: Question, top: Ceiling, seed: int) -> Limit:
    """The largest rate that is kept up with; the ceiling must be in reach."""
    full = saturated(choice, question, top, seed)
    rate = min(full.rate, top.rate)
    # Beyond the ceiling, which is exact, it is only the count of what is served that errs.
    step = max(RESOLVED, full.error / rate if 0 < rate < top.rate else 0.0)
    carries, fails, below = 0.0, min(rate * (1 + RESOLVED), top.rate), step
    while rate and below <= 1 - LEAST:
        asked = rate * (1 - below)
        falls = question.draws.reaches(asked) and drains(choice, question, top, asked, seed)
        if falls:
            carries = asked
            break
        if falls is False:
            fails = asked
        below *= 2
    of = max(full.use, key=lambda name: full.use[name]) if full.use else top.need.of
    return Limit(carries, fails, top.rate, of, tuple(full.use.items()))


def until_burst(
    choice: Choice, question: Question, top: Ceiling, kept_up: Limit, seed: int
) -> float | None:
    """The rate that an empty server keeps up with, where it is clearly above the limit.

    Draws that are light by chance do not count.
    """
    servers = question.deployment.servers

    def lasts(rate: float) -> bool:
        draw = question.draws.at(rate, seed, STEADY * servers)
        try:
            stands = verdict(question.run(choice, draw))
        except Livelock:
            return False
        of_law = rate * top.mean_need / servers
        return stands.is_steady and stands.is_certain and stands.load >= LIGHT * of_law

    begin = AFTER_EMPTY * kept_up.carries or top.rate / 2
    if begin >= top.rate or not lasts(begin):
        return None
    turn = bisect_factor(lambda factor: begin * factor < top.rate and lasts(begin * factor), silent)
    return begin * turn.carries
