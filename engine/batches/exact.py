"""The batch of least F, by dynamic programming over count, outputs and size.

For each count k a batch of least sum of outputs is sought: F orders batches of
one count by that sum. Requests are decided one after another, from the last row
to the first. A state (count, outputs, size) is kept with the set that reaches
it, unless another state of the same count has no more of outputs and of size:
whatever completes the first also completes the second, to a batch that is no
worse. Of two sets in one state the one with the request decided last, the
smaller row, is kept: it is first in lexicographic order and stays so under every
completion. So the first state at the end is the best batch of k requests, with
all of the tie rules.

What keeps the states few is a price of memory p >= 0. With cost o + p (s + o), a
state leads to a batch with outputs <= cap and size <= M only if its cost, plus
the least cost of as many requests still undecided as it lacks, is at most
cap + p M. The cap is the F already found; the local search gives a first one.
The same inequality at the start rules out most counts. It is evaluated in
doubles with an allowance, so rounding can keep a state too many but none too
few; everything that decides between batches is in integers.

With the price at which the k cheapest requests just fill M, n = 100 takes some
milliseconds for all batches, where a table over (count, memory) has n M cells a
batch.
"""

from __future__ import annotations

import numpy as np

from engine.batches.objective import better
from engine.batches.swap import swap
from engine.compiled import kernel, part
from engine.errors import InputError

LIMIT = 100  # requests
STATES = 1 << 21  # for one batch, which may take 200 MB then
HALVINGS = 40  # of the interval in which a price is sought; every price is valid
OUTPUTS, COUNT, SIZE, SET = range(4)  # the columns of a state; the set is two words of bits
WORD = LIMIT // 2
ALLOWANCE = 1 + 1e-12  # a hundred additions in doubles stay below 1e-13 relative


@part
def _size_of_cheapest(order, output, size, count, price):
    """Total size of the `count` cheapest; `order` is sorted, quickly when it nearly is."""
    for i in range(1, order.size):
        request, place = order[i], i
        cost = output[request] + price * size[request]
        while place > 0 and output[order[place - 1]] + price * size[order[place - 1]] > cost:
            order[place] = order[place - 1]
            place -= 1
        order[place] = request
    total = 0
    for place in range(count):
        total += size[order[place]]
    return total


@kernel
def _filling_price(output, size, count, memory):
    """About the least price at which the `count` cheapest requests fit in M."""
    low, high = 0.0, 2.0 * output.max()  # at `high`, size alone decides
    order = np.arange(output.size)
    if _size_of_cheapest(order, output, size, count, low) <= memory:
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _size_of_cheapest(order, output, size, count, middle) <= memory:
            high = middle
        else:
            low = middle
    return high


@part
def _least_costs(cost, count):
    """(n + 1, count + 1) float64: at [i, r] the least cost of r of the first i requests."""
    least = np.full((cost.size + 1, count + 1), np.inf)
    least[:, 0] = 0.0
    ascending = np.empty(cost.size)
    for i in range(cost.size):
        place = i
        while place > 0 and ascending[place - 1] > cost[i]:
            ascending[place] = ascending[place - 1]
            place -= 1
        ascending[place] = cost[i]
        for r in range(1, min(i + 1, count) + 1):
            least[i + 1, r] = least[i + 1, r - 1] + ascending[r - 1]
    return least


@part
def _taken_first(states, take, skip, output, size):
    """Whether state `take` with the request sorts before state `skip` without it, or equals it."""
    for column, more in ((COUNT, 1), (OUTPUTS, output), (SIZE, size)):
        difference = states[take, column] + more - states[skip, column]
        if difference != 0:
            return difference < 0
    return True


@part
def _decide(states, i, output, size, memory, rest, price, limit):
    """The states after request i was taken and not taken, sorted by (count, outputs, size).

    rest : (k + 1,) the least cost of 0 .. k requests still undecided
    limit : cap + p M, the largest cost of a batch that matters
    """
    old = states.shape[0]
    decided = np.empty((2 * old, states.shape[1]), np.int64)
    new = take = skip = 0
    while take < old or skip < old:
        taken = skip == old or (take < old and _taken_first(states, take, skip, output[i], size[i]))
        state, source = decided[new], states[take if taken else skip]
        for column in range(source.size):
            state[column] = source[column]
        if taken:
            take += 1
            state[COUNT] += 1
            state[OUTPUTS] += output[i]
            state[SIZE] += size[i]
            state[SET + i // WORD] |= 1 << (i % WORD)
        else:
            skip += 1
        lacks = rest.size - 1 - state[COUNT]
        if lacks < 0 or state[SIZE] > memory:
            continue
        if state[OUTPUTS] + price * state[SIZE] + rest[lacks] > limit:
            continue
        before = decided[new - 1]
        if new > 0 and before[COUNT] == state[COUNT] and before[SIZE] <= state[SIZE]:
            continue
        new += 1
    return decided[:new]


@kernel
def _of_count(output, size, memory, count, cap, price, budget):
    """The final states with `count` requests, best first, and how many states it took.

    None with outputs <= cap is missed, unless it gives up after `budget` states.
    """
    rest = _least_costs(output + price * size, count)
    limit = (cap + price * memory) * ALLOWANCE
    states = np.zeros((1, SET + 2), np.int64)
    work = 0
    for i in range(output.size - 1, -1, -1):
        states = _decide(states, i, output, size, memory, rest[i], price, limit)
        work += states.shape[0]
        if work > budget:
            break
    return states, work


def _members(state, n):
    """(n,) bool: the requests in a state's set."""
    request = np.arange(n)
    return (state[SET + request // WORD] >> request % WORD & 1).astype(bool)


def _least(chosen, output, size, memory):
    """The batch of least F, given any batch; None if the states do not suffice."""
    best = (output[chosen].sum(), chosen.sum(), size[chosen].sum())
    most = np.searchsorted(np.cumsum(np.sort(size)), memory, side="right")
    counts = np.arange(1, most + 1)
    price = _filling_price(output, size, best[1], memory)
    cost = np.cumsum(np.sort(output + price * size)[:most])
    budget = STATES
    for k in counts[np.argsort((cost - price * memory) / counts**2)]:
        # Of equal F the larger count wins, so a smaller one has to be below.
        cap = (best[0] * k * k - (k < best[1])) // (best[1] * best[1])
        if cost[k - 1] > (cap + price * memory) * ALLOWANCE:
            continue
        own_price = _filling_price(output, size, k, memory)
        states, work = _of_count(output, size, memory, k, cap, own_price, budget)
        budget -= work
        if budget < 0:
            return None
        if len(states) and not better(best, tuple(states[0, :SET])):
            best = tuple(states[0, :SET])
            chosen = _members(states[0], output.size)
    return chosen


def exact(output: np.ndarray, size: np.ndarray, memory: int) -> np.ndarray:
    """(m,) bool: the batch of least F; ties: larger count, smaller size, lexicographic.

    Parameters
    ----------
    output, size : (m,) int64, o and s + o, by ascending row; each size <= memory

    Raises
    ------
    InputError
        For more than LIMIT requests, and for lengths that need more than STATES states.
    """
    if output.size > LIMIT:
        raise InputError(
            f"sorted-f-exact takes at most {LIMIT} requests, got {output.size}: "
            "use sorted-f-swap, which takes any number"
        )
    chosen = _least(swap(output, size, memory), output, size, memory)
    if chosen is None:
        raise InputError(
            f"sorted-f-exact needs more than {STATES} states for a batch of these lengths: "
            "use sorted-f-swap"
        )
    return chosen


def seconds(n: int) -> float:
    """What all batches of n requests take, about; more than LIMIT are refused."""
    return 1e-4 + 5e-7 * n**2 if n <= LIMIT else float("inf")
