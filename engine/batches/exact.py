"""A batch of least F."""

import numpy as np

from engine.batches.objective import better
from engine.compiled import kernel

WORD = 50
STATES = 1 << 19


@kernel
def _cheapest(output, size, count, price):
    return np.argsort(output + price * size)[:count]


@kernel
def _price(output, size, count, memory):
    """The price of memory at which the `count` cheapest requests just fit; inf if they never do."""
    low, high = 0.0, float(output.max() - output.min() + 1)
    if size[_cheapest(output, size, count, low)].sum() <= memory:
        return low
    if size[_cheapest(output, size, count, high)].sum() > memory:
        return np.inf
    for _ in range(40):
        middle = (low + high) / 2
        if size[_cheapest(output, size, count, middle)].sum() <= memory:
            high = middle
        else:
            low = middle
    return high


@kernel
def _rest(cost, count):
    """[i, r]: the least total cost of r requests among the first i."""
    n = cost.size
    least = np.full((n + 1, count + 1), np.inf)
    ascending = np.empty(n)
    least[0, 0] = 0.0
    for i in range(n):
        place = np.searchsorted(ascending[:i], cost[i])
        for j in range(i, place, -1):
            ascending[j] = ascending[j - 1]
        ascending[place] = cost[i]
        least[i + 1, 0] = 0.0
        for r in range(1, min(i + 1, count) + 1):
            least[i + 1, r] = least[i + 1, r - 1] + ascending[r - 1]
    return least


@kernel
def _of_count(output, size, memory, count, cap, price):
    n = output.size
    rest = _rest(output + price * size, count)
    limit = (cap + price * memory) * (1 + 1e-12)
    states = np.zeros((5, 1), np.int64)
    total = 0
    for i in range(n - 1, -1, -1):
        kept = states.shape[1]
        merged = np.empty((5, 2 * kept), np.int64)
        word, bit = 3 + i // WORD, 1 << (i % WORD)
        skip = take = new = 0
        last_count, last_size = -1, 0
        while skip < kept or take < kept:
            if take == kept:
                taken = False
            elif skip == kept:
                taken = True
            else:
                a = states[0, take] + 1 - states[0, skip]
                if a == 0:
                    a = states[1, take] + output[i] - states[1, skip]
                if a == 0:
                    a = states[2, take] + size[i] - states[2, skip]
                taken = a <= 0
            s = take if taken else skip
            c, o, w = states[0, s], states[1, s], states[2, s]
            if taken:
                c += 1
                o += output[i]
                w += size[i]
                take += 1
            else:
                skip += 1
            if c == last_count and w >= last_size:
                continue
            if c > count or w > memory or o > cap:
                continue
            if o + price * w + rest[i, count - c] > limit:
                continue
            merged[0, new], merged[1, new], merged[2, new] = c, o, w
            merged[3, new], merged[4, new] = states[3, s], states[4, s]
            if taken:
                merged[word, new] |= bit
            last_count, last_size = c, w
            new += 1
        total += new
        states = merged[:, :new].copy()
        if new > STATES:
            return states, -total
    return states, total


@kernel
def exact(output, size, memory, total, count, log):
    n = output.size
    best_count = count
    best_total = total
    best_size = np.int64(1) << 60
    best = np.zeros(n, np.bool_)
    p0 = _price(output, size, best_count, memory)
    bound = np.cumsum(np.sort(output + p0 * size)) - p0 * memory
    nl = 0
    for step in range(2 * n + 1):
        k = count + (step + 1) // 2 * (1 if step % 2 else -1)
        if k < 1 or k > n:
            continue
        cap = (best_total * k * k - (k < best_count)) // (best_count * best_count)
        if bound[k - 1] > cap + 1e-9 * (cap + p0 * memory):
            continue
        price = _price(output, size, k, memory)
        if price == np.inf:
            continue
        states, work = _of_count(output, size, memory, k, cap, price)
        log[nl, 0], log[nl, 1], log[nl, 2] = k, work, states.shape[1]
        nl += 1
        if states.shape[1] == 0:
            continue
        o, w = states[1, 0], states[2, 0]
        if better(o, k, w, best_total, best_count, best_size):
            best_total, best_count, best_size = o, k, w
            for i in range(n):
                best[i] = (states[3 + i // WORD, 0] >> (i % WORD)) & 1
    return best, nl
