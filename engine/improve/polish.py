"""Ruin and recreate: take a few neighbouring requests out, put them back no worse.

The requests' memory is taken out of the profile and each is put at its earliest start
that fits, in a random order: any, by about the old order, the large prompts
first, or the short outputs first. The change stays if the sum of starts did not grow:
equal changes stay too, as they lead on to others. From time to time every request in
order of start is moved as early as it can.
"""

from __future__ import annotations

import numpy as np

from engine.compiled import kernel, part
from engine.simulate.random_stream import below, seeded, uniform

MOST = 8  # requests taken out at once
NEAR = (4, 30)  # places in the order of start that they are taken from, at random
FAR, FAR_SHARE = 150, 0.15  # and some from so many places on
BACK = 200  # rounds before the first old start that they may move to
SHIFT_EVERY = 3000  # changes


@kernel
def hold(used, prompt, output, start, sign):
    """Put a request's memory into the profile (sign 1) or take it out (-1)."""
    profile = used[start + 1 : start + output + 1]
    for j in range(profile.size):
        profile[j] += sign * (prompt + 1 + j)


@kernel
def earliest_place(used, memory, prompt, output, start):
    """The earliest start from `start` on at which the request fits; -1 if beyond the profile."""
    while start + output < used.size:
        t = start + output
        while t > start:
            over = used[t] + prompt + t - start - memory
            if over > 0:
                # Waiting a round lowers what it holds at t by one token.
                start += min(over, t - start)
                break
            t -= 1
        else:
            return start
    return -1


@part
def _shift_all_left(start, prompt, output, visible, used, memory):
    for i in np.argsort(start):
        hold(used, prompt[i], output[i], start[i], -1)
        start[i] = earliest_place(used, memory, prompt[i], output[i], visible[i])
        hold(used, prompt[i], output[i], start[i], 1)


@part
def _pick(by_start, stream, picked):
    """Some distinct neighbours in the order of start; returns how many."""
    n = by_start.size
    begin = below(stream, n)
    near = NEAR[0] + below(stream, NEAR[1] - NEAR[0] + 1)
    count = 0
    for _ in range(2 + below(stream, MOST - 1)):
        reach = FAR if uniform(stream) < FAR_SHARE else near
        place = begin + below(stream, reach)
        if place < n and not (picked[:count] == by_start[place]).any():
            picked[count] = by_start[place]
            count += 1
    return count


@part
def _put_in_order(picked, start, prompt, output, stream):
    """Sort the picked requests by one of the four orders."""
    kind = uniform(stream)
    keys = np.empty(picked.size)
    for a in range(picked.size):
        i = picked[a]
        if kind < 0.35:
            keys[a] = uniform(stream)
        elif kind < 0.65:
            keys[a] = start[i] + 100 * uniform(stream)
        elif kind < 0.85:
            keys[a] = -prompt[i] * (0.7 + 0.6 * uniform(stream))
        else:
            keys[a] = output[i] * (0.7 + 0.6 * uniform(stream))
    picked[:] = picked[np.argsort(keys)]


@kernel
def polish(start, prompt, output, visible, used, memory, changes, seed):
    """Try `changes` changes; `start` and `used` are improved in place.

    Parameters
    ----------
    start : (n,) int64, a feasible schedule's start rounds
    visible : (n,) int64, the first round at which each may start
    used : (T,) int64, tokens held at the end of every round; no request is moved beyond T
    """
    stream = seeded(seed)
    buffer = np.empty(MOST + 1, np.int64)
    by_start = np.argsort(start)
    for change in range(changes):
        if change % SHIFT_EVERY == 0:
            _shift_all_left(start, prompt, output, visible, used, memory)
            by_start = np.argsort(start)
        count = _pick(by_start, stream, buffer)
        if count < 2:
            continue
        picked = buffer[:count]
        _put_in_order(picked, start, prompt, output, stream)
        old = start[picked]
        for i in picked:
            hold(used, prompt[i], output[i], start[i], -1)
        floor = max(0, old.min() - BACK)
        most = old.sum()
        total, placed = 0, 0
        while placed < count and total <= most:
            i = picked[placed]
            place = earliest_place(used, memory, prompt[i], output[i], max(floor, visible[i]))
            if place < 0:
                total = most + 1
                break
            start[i] = place
            hold(used, prompt[i], output[i], place, 1)
            total += place
            placed += 1
        if total > most:
            for i in picked[:placed]:
                hold(used, prompt[i], output[i], start[i], -1)
            start[picked] = old
            for i in picked:
                hold(used, prompt[i], output[i], start[i], 1)
