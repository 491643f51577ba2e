"""Slow, plain twins of the kernels: they walk every round and every token.

Written from DESIGN 1.1 and 2 alone, without the kernels' shortcuts, so that
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


def vllm(workload, memory, limit, max_num_seqs):
    """(first starts, finishes, preemptions, memory at the end of every round from 1 on)."""
    n = len(workload)
    prompt, output = workload.prompt.tolist(), workload.output.tolist()
    seen_from = [math.ceil(a) for a in workload.arrival.tolist()]
    not_arrived = sorted(range(n), key=lambda i: (workload.arrival[i], i))
    queue, running = [], []  # running in order of admission
    gen = [0] * n
    start, finish, preemptions, used = [None] * n, [None] * n, [0] * n, []
    now = 0
    while None in finish:
        while not_arrived and seen_from[not_arrived[0]] <= now:
            queue.append(not_arrived.pop(0))
        dropped = []
        while sum(prompt[i] + gen[i] + 1 for i in running) > memory:
            dropped.append(running.pop())
        for i in dropped:
            preemptions[i] += 1
            queue.insert(0, i)
        while queue and not dropped and len(running) < max_num_seqs:
            i = queue[0]
            need = sum(prompt[j] + gen[j] + 1 for j in running) + prompt[i] + gen[i] + 1
            if need > (limit if running else memory):
                break
            running.append(queue.pop(0))
            if start[i] is None:
                start[i] = now
        now += 1
        for i in running:
            gen[i] += 1
        used.append(sum(prompt[i] + gen[i] for i in running))
        for i in running:
            if gen[i] == output[i]:
                finish[i] = now
        running = [i for i in running if finish[i] is None]
    return start, finish, preemptions, used
