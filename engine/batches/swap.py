"""A batch of low F by local search: greedy fills, then the best single move until none helps.

Moves are to exchange a member for another request, to add a request and to drop
a member. Each taken move makes the batch strictly `better` (F, then count, then
size), so the search ends, and never above the F it starts from. Among moves of
one kind the best can be found in one pass over the requests by ascending size:

- an exchange changes F by its outputs alone, and every request no larger than
  the leaving one plus the free memory may enter: a second index that runs ahead
  knows the least output among these;
- of the requests that fit, the one of least output is the best to add;
- the member of largest output is the best to drop.
"""

from __future__ import annotations

import numpy as np

from engine.batches.objective import better, lower
from engine.compiled import kernel, part

NOBODY = -1


@part
def _fill(order, output, size, memory):
    """Whoever still fits, in `order`, cut where F was least."""
    taken = np.empty(order.size, np.int64)
    sums = best = (0, 0, 0)
    for i in order:
        if sums[2] + size[i] <= memory:
            taken[sums[1]] = i
            sums = (sums[0] + output[i], sums[1] + 1, sums[2] + size[i])
            if best[1] == 0 or not lower(best, sums):
                best = sums
    return taken[: best[1]], best


@kernel
def _best_fill(orders, output, size, memory):
    best, best_sums = _fill(orders[0], output, size, memory)
    for order in orders[1:]:
        batch, sums = _fill(order, output, size, memory)
        if better(sums, best_sums):
            best, best_sums = batch, sums
    chosen = np.zeros(output.size, np.bool_)
    chosen[best] = True
    return chosen


def greedy(output: np.ndarray, size: np.ndarray, memory: int) -> np.ndarray:
    """(m,) bool: the best of three fills, by ascending output, size and volume.

    Parameters
    ----------
    output, size : (m,) int64, o and s + o, by ascending row; each size <= memory
    """
    by_size = np.argsort(size, kind="stable")
    volume = (size - output) * output + output * (output + 1) // 2
    orders = [by_size[np.argsort(key[by_size], kind="stable")] for key in (output, size, volume)]
    return _best_fill(np.stack(orders), output, size, memory)


@part
def _exchange(chosen, output, size, free):
    """(leaves, enters) that lowers outputs most, then size; NOBODY twice if none does."""
    leaves = enters = least = NOBODY
    gain = saved = seen = 0
    for i in range(chosen.size):
        if not chosen[i]:
            continue
        while seen < size.size and size[seen] <= size[i] + free:
            if not chosen[seen] and (least == NOBODY or output[seen] < output[least]):
                least = seen
            seen += 1
        if least != NOBODY:
            less, smaller = output[i] - output[least], size[i] - size[least]
            if less > gain or (less == gain and smaller > saved):
                leaves, enters, gain, saved = i, least, less, smaller  # type: ignore[assignment]
    return leaves, enters


@part
def _addition(chosen, output, size, free):
    """The request of least output, then size, that fits."""
    least = NOBODY
    for i in range(size.size):
        if size[i] > free:
            break
        if not chosen[i] and (least == NOBODY or output[i] < output[least]):
            least = i
    return least


@part
def _drop(chosen, output):
    """The member of largest output, then size, if it is not the only one."""
    largest = NOBODY
    if chosen.sum() > 1:
        for i in range(chosen.size):
            if chosen[i] and (largest == NOBODY or output[i] >= output[largest]):
                largest = i
    return largest


@part
def _moved(sums, leaves, enters, output, size):
    outputs, count, used = sums
    if leaves != NOBODY:
        outputs, count, used = outputs - output[leaves], count - 1, used - size[leaves]
    if enters != NOBODY:
        outputs, count, used = outputs + output[enters], count + 1, used + size[enters]
    return outputs, count, used


@kernel
def _descend(chosen, output, size, memory):
    """Take the best move until none is better; requests by ascending size."""
    sums = (output[chosen].sum(), chosen.sum(), size[chosen].sum())
    while True:
        free = memory - sums[2]
        moves = (
            _exchange(chosen, output, size, free),
            (NOBODY, _addition(chosen, output, size, free)),
            (_drop(chosen, output), NOBODY),
        )
        best, leaves, enters = sums, NOBODY, NOBODY
        for out, into in moves:
            if out != into:
                moved = _moved(sums, out, into, output, size)
                if better(moved, best):
                    best, leaves, enters = moved, out, into
        if leaves == enters:
            return
        if leaves != NOBODY:
            chosen[leaves] = False
        if enters != NOBODY:
            chosen[enters] = True
        sums = best


def improve(chosen: np.ndarray, output: np.ndarray, size: np.ndarray, memory: int) -> np.ndarray:
    """(m,) bool: the batch that local search reaches from `chosen`, never of larger F.

    Parameters
    ----------
    chosen : (m,) bool, at least one request, of total size at most `memory`
    output, size : (m,) int64, o and s + o, by ascending row
    """
    by_size = np.argsort(size, kind="stable")
    batch = chosen[by_size]
    _descend(batch, output[by_size], size[by_size], memory)
    improved = np.empty_like(batch)
    improved[by_size] = batch
    return improved


def swap(output: np.ndarray, size: np.ndarray, memory: int) -> np.ndarray:
    """(m,) bool: a batch of low F, no single move from a better one; inputs as for `greedy`."""
    return improve(greedy(output, size, memory), output, size, memory)


def seconds(n: int) -> float:
    """What all batches of n requests take, about, where some twenty fit in M."""
    return 1e-6 * n + 1e-9 * n**2
