"""The memory that running requests will hold, and where the next one fits.

Running requests are grouped by completion time. For the g-th completion time
x[g] the profile keeps

    alive[g]   how many running requests still run at x[g]
    slack[g]   the free memory at x[g] if nothing else starts, as
               slack[g] = M - used(x[g])

Between completions memory only rises, so these points decide feasibility
(docs/model.md 1.1). A request (s, o) started at k holds s + x - k at every x in
(k, k + o], which gives for each completion x in that range

    s + x - k <= slack   <=>   k >= x + s - slack          (or k >= x: not in range)

All starts below min(x, x + s - slack) are therefore impossible, and one pass
over the completions in ascending order finds the earliest start, exactly: no
rounds are walked and nothing is checked twice.

The arrays are right-aligned: groups live in [first, size). Completions leave
at the left end and an insertion shifts what lies before it one place to the
left, in the same pass that updates it. Loops run over slices, whose indices are
known not to be negative, without early exits: then they become vector
instructions, which halves the time of a run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part


class Profile(NamedTuple):
    """Room for groups of running requests; (groups,) int64 each, valid from an index on."""

    x: np.ndarray
    alive: np.ndarray
    slack: np.ndarray


def new_profile(groups: int) -> Profile:
    """An empty profile that can hold `groups` different completion times."""
    return Profile(*(np.empty(groups, np.int64) for _ in range(3)))


@kernel
def first_after(x, first, at):
    """The first group that completes after `at`; x.size if none does."""
    lo, hi = first, x.size
    while lo < hi:
        mid = (lo + hi) >> 1
        if x[mid] <= at:
            lo = mid + 1
        else:
            hi = mid
    return lo


@part
def used_between(x, alive, slack, memory, after, at):
    """Memory held at `at`, where no group but those from `after` on completes at or after it."""
    if after == x.size:
        return 0
    return memory - slack[after] - alive[after] * (x[after] - at)


@kernel
def earliest_fit(x, alive, slack, first, memory, prompt, output, not_before):
    """Where and when the request can first start without ever overflowing M.

    Parameters
    ----------
    x, alive, slack : int64, the profile, valid from index `first`
    prompt, output : int, with prompt + output <= memory
    not_before : int, the time asked about, at or after the current time

    Returns
    -------
    The earliest start >= `not_before`, and the first group that completes after its end.
    """
    start = not_before
    after = first_after(x, first, start + output)
    ends, free = x[first:after], slack[first:after]
    for g in range(ends.size):
        start = max(start, min(ends[g], ends[g] + prompt - free[g]))
    while True:
        end = start + output
        while after < x.size and x[after] <= end:
            start = max(start, min(x[after], x[after] + prompt - slack[after]))
            end = start + output
            after += 1
        ends_at_group = after > first and x[after - 1] == end
        if ends_at_group or (
            used_between(x, alive, slack, memory, after, end) + prompt + output <= memory
        ):
            return start, after
        # Until the next completion memory only rises, so ending there is the next chance.
        start = x[after] - output


@kernel
def insert(x, alive, slack, first, memory, prompt, output, start, after):
    """Let (prompt, output) run from `start`; returns the new `first`.

    `after` is the first group that completes after start + output.
    """
    end = start + output
    weight = prompt - start
    if after > first and x[after - 1] == end:
        ends, free, others = x[first:after], slack[first:after], alive[first:after]
        for g in range(ends.size):
            free[g] -= weight + ends[g]
            others[g] += 1
        return first
    used = used_between(x, alive, slack, memory, after, end) + weight + end
    outliving = alive[after] if after < x.size else 0
    first -= 1
    ends, free, others = x[first:after], slack[first:after], alive[first:after]
    for g in range(1, ends.size):
        ends[g - 1] = ends[g]
        free[g - 1] = free[g] - weight - ends[g]
        others[g - 1] = others[g] + 1
    x[after - 1] = end
    slack[after - 1] = memory - used
    alive[after - 1] = outliving + 1
    return first


@part
def remove(x, alive, slack, first, prompt, start, end):
    """Let the request that was to run from `start` to `end` never have been; the new `first`.

    `end` is one of the profile's groups, which goes if nobody else completes then.
    """
    last = first
    while x[last] < end:
        last += 1
    for g in range(first, last + 1):
        slack[g] += prompt + x[g] - start
        alive[g] -= 1
    outliving = alive[last + 1] if last + 1 < x.size else 0
    if alive[last] > outliving:
        return first
    for g in range(last, first, -1):
        x[g], slack[g], alive[g] = x[g - 1], slack[g - 1], alive[g - 1]
    return first + 1
