"""Is a load carried? The verdict that counts where more requests can be drawn than a run has.

A run of 2,000 requests does not show an overload of a tenth, nor does a light draw of a heavy law.
So where the verdict on a run (engine/measure/overload.py) is not certain, its rate is held
against what the policy keeps up with for good (limit.py). What is too near to that to tell is not
carried.
Maps, sweeps, headroom and capacity ask here, so that none calls a load carried that
another does not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from engine.capacity.draws import Draws
from engine.capacity.limit import Limit, ceiling_of, is_in_reach, limit
from engine.capacity.question import Question
from engine.choice import Choice
from engine.demand.scenario import Scenario
from engine.demand.source import Source
from engine.errors import InputError
from engine.fleet import Deployment
from engine.measure.overload import NEARLY_FULL, OVERLOADED, Verdict, verdict
from engine.simulate.run import Run

HOPELESS = 1.5  # load: a draw is not light or heavy by as much
DECIMALS = 6  # of a mean gap, in arrivals that are compared
KEPT = 256  # limits, of the deployments and requests that were asked about last


def verdict_of_law(run: Run, source: Source, deployment: Deployment) -> Verdict:
    """The verdict on a run of the source's requests, or on all that they are a draw of.

    Parameters
    ----------
    deployment : that the run was on
    """
    seen = verdict(run)
    choice = Choice.that_made(run)
    if choice is None or _is_plain(seen):
        return seen
    try:
        draws = Draws(source, 1)
    except InputError:
        return seen
    kept_up = keeps_up_with(choice, _at_any_rate(source), deployment)
    if kept_up is None:
        return seen
    rate = draws.rate
    if rate <= kept_up.carries:
        share = rate / kept_up.fails if kept_up.fails else 1.0
        kind = "saturated" if max(share, seen.load) > NEARLY_FULL else "stable"
        return replace(seen, kind=kind, load=min(seen.load, 1.0), drift=0.0, decided=True)
    drift = 1 - kept_up.carries / rate
    return replace(seen, kind=OVERLOADED, drift=drift, decided=True, near=rate < kept_up.fails)


def _is_plain(seen: Verdict) -> bool:
    """Whether a longer run would say the same, or has nothing to add."""
    if seen.kind == OVERLOADED:
        return seen.load > HOPELESS
    return not seen.is_steady or seen.is_certain


def _at_any_rate(source: Source) -> Source:
    """The same for all rates, which what is kept up with does not depend on."""
    if isinstance(source, Scenario):
        return replace(source, rate=1.0) if source.horizon is None else source
    since = source.arrival - source.arrival.min()
    return replace(source, arrival=np.round(since * (len(source) / since.max()), DECIMALS))


@lru_cache(maxsize=KEPT)
def keeps_up_with(choice: Choice, source: Source, deployment: Deployment) -> Limit | None:
    """The largest rate of such requests that is kept up with; None where it is out of reach."""
    question = Question(Draws(source, 1), deployment)
    top = ceiling_of(choice, question)
    if not is_in_reach(top, question):
        return None
    return limit(choice, question, top, question.seeds[0])
