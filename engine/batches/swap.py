"""A batch by local search."""

import numpy as np

from engine.batches.objective import better, lower
from engine.compiled import kernel


@kernel
def fill(order, output, size, memory):
    batch = np.empty(order.size, np.int64)
    total = count = used = 0
    best_total = best_count = 0
    for i in order:
        if used + size[i] <= memory:
            batch[count] = i
            count += 1
            total += output[i]
            used += size[i]
            if best_count == 0 or not lower(best_total, best_count, total, count):
                best_total, best_count = total, count
    return batch[:best_count]


@kernel
def _exchange(chosen, output, size, free):
    leaves = enters = -1
    gain = saved = 0
    best = -1
    seen = 0
    n = size.size
    for i in range(n):
        if not chosen[i]:
            continue
        while seen < n and size[seen] <= size[i] + free:
            if not chosen[seen] and (best < 0 or output[seen] < output[best]):
                best = seen
            seen += 1
        if best >= 0:
            g, s = output[i] - output[best], size[i] - size[best]
            if g > gain or (g == gain and s > saved):
                gain, saved, leaves, enters = g, s, i, best
    return leaves, enters


@kernel
def _addition(chosen, output, size, free):
    best = -1
    for i in range(size.size):
        if size[i] > free:
            break
        if not chosen[i] and (best < 0 or output[i] < output[best]):
            best = i
    return best


@kernel
def _drop(chosen, output, size):
    worst = -1
    for i in range(size.size):
        if chosen[i] and (worst < 0 or output[i] >= output[worst]):
            worst = i
    return worst


@kernel
def improve(chosen, output, size, memory):
    count = total = used = 0
    for i in range(size.size):
        if chosen[i]:
            count += 1
            total += output[i]
            used += size[i]
    moves = 0
    while True:
        leaves, enters = _exchange(chosen, output, size, memory - used)
        t, c, u = total, count, used
        if leaves >= 0:
            t = total - output[leaves] + output[enters]
            u = used - size[leaves] + size[enters]
        add = _addition(chosen, output, size, memory - used)
        if add >= 0 and better(total + output[add], count + 1, used + size[add], t, c, u):
            leaves, enters = -1, add
            t, c, u = total + output[add], count + 1, used + size[add]
        if count > 1:
            drop = _drop(chosen, output, size)
            if better(total - output[drop], count - 1, used - size[drop], t, c, u):
                leaves, enters = drop, -1
                t, c, u = total - output[drop], count - 1, used - size[drop]
        if leaves < 0 and enters < 0:
            return moves
        if leaves >= 0:
            chosen[leaves] = False
        if enters >= 0:
            chosen[enters] = True
        total, count, used = t, c, u
        moves += 1
