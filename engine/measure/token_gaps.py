"""The longest time a user waits between two tokens of an answer.

Tokens come at the ends of the rounds in which a request decodes. Between two of them lies
one round, or, where it lost its KV cache or paused, everything until the token after its
return. The rounds of a span grow longer, so the longest of a span is its last; a table of
maxima over 1, 2, 4, .. spans answers for any stretch of spans at once.
"""

from __future__ import annotations

import numpy as np

from engine.fleet import FleetSchedule, PoolSchedule
from engine.simulate.run import Run
from engine.simulate.schedule import Schedule
from engine.simulate.timetable import Timetable


def largest_token_gap(run: Run) -> np.ndarray:
    """(n,) float64, clock units: the longest gap after the first token; NaN where o = 1."""
    return _largest(run.schedule)


def _largest(schedule: Schedule) -> np.ndarray:
    if isinstance(schedule, FleetSchedule):
        return schedule.merged(_largest)
    if isinstance(schedule, PoolSchedule):
        return _across_pools(schedule)
    residencies = schedule.residencies
    grows = residencies.grows > 0
    request, begin, end = (
        residencies.request[grows],
        residencies.begin[grows],
        residencies.end[grows],
    )
    largest = np.full(len(schedule.workload), -np.inf)
    several = end - begin > 1
    np.maximum.at(
        largest, request[several], _longest_round(schedule, begin[several] + 1, end[several])
    )
    in_time = np.lexsort((begin, request))
    before, after = in_time[:-1], in_time[1:]
    same = request[before] == request[after]
    before, after = before[same], after[same]
    away = schedule.ends(begin[after] + 1) - schedule.ends(end[before])
    np.maximum.at(largest, request[after], away.astype(float))
    return np.where(np.isfinite(largest), largest, np.nan)


def _across_pools(schedule: PoolSchedule) -> np.ndarray:
    """In the pool that decodes, and from the first token, of the other pool, to the second."""
    largest, decode, decoded = (
        np.full(len(schedule.workload), np.nan),
        schedule.decode,
        schedule.decoded,
    )
    if decode is not None:
        moving = decode.first_token_at - schedule.first_token_at[decoded]
        largest[decoded] = np.fmax(moving, _largest(decode))
    return largest


def _longest_round(schedule: Schedule, after: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The longest of the rounds after + 1 .. last, for each pair."""
    if schedule.timetable is None:
        return np.ones(len(after))
    table = schedule.timetable
    first = np.searchsorted(table.first, after + 1, side="left") - 1
    final = np.searchsorted(table.first, last, side="left") - 1
    # The last span may go on beyond `last`; before it every span counts whole.
    partial = table.length[final] + table.growth[final] * (last - table.first[final] - 1)
    return np.maximum(partial, _highest(_longest_of_spans(table), first, final))


def _longest_of_spans(table: Timetable) -> np.ndarray:
    rounds = np.diff(table.first, append=table.first[-1] + 1)
    return table.length + table.growth * np.maximum(rounds - 1, 0)


def _highest(values: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The maximum of values[begin:end] for each pair; -inf where that is empty."""
    highest = np.full(len(begin), -np.inf)
    count = end - begin
    width, table = 1, values
    while width <= count.max(initial=0):
        of_width = (count >= width) & (count < 2 * width)
        highest[of_width] = np.maximum(table[begin[of_width]], table[end[of_width] - width])
        table = np.maximum(table[:-width], table[width:]) if len(table) > width else table
        width *= 2
    return highest
