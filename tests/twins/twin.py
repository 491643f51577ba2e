"""Slow, plain twins of the kernels: they walk every round and every token.

Written from docs/model.md 1.1 and 2 alone, without the kernels' shortcuts, so that
agreement means something.
"""

import math


def held(prompt, start, output, at):
    """Tokens at the end of round `at` of a request started at `start`."""
    return prompt + at - start if start < at <= start + output else 0


def look_ahead_starts(workload, memory, order, skip=0):
    """The start of every request under look-ahead admission in `order`."""
    prompt, output = workload.prompt.tolist(), workload.output.tolist()
    seen_from = [math.ceil(a) for a in workload.arrival.tolist()]
    start = {}
    now = 0
    while len(start) < len(workload):
        passed_over = 0
        for i in order:
            if i in start or seen_from[i] > now:
                continue
            if _fits(start, prompt, output, memory, i, now):
                start[i] = now
            else:
                passed_over += 1
                if passed_over > skip:
                    break
        now += 1
    return [start[i] for i in range(len(workload))]


def _fits(start, prompt, output, memory, candidate, now):
    starts = {**start, candidate: now}
    rounds = range(now + 1, now + output[candidate] + 1)
    return all(
        sum(held(prompt[i], begin, output[i], at) for i, begin in starts.items()) <= memory
        for at in rounds
    )
