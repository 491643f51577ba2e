"""Optima by trying everything, and the dual function by its definition: for tiny instances."""

from fractions import Fraction
from math import ceil

from tests.twins.twin import held


def best_total_latency(workload, memory):
    """The least total latency of any schedule that keeps its KV caches, by branch and bound.

    Starts up to max a + sum o are enough: a later one could be moved forward.
    """
    n = len(workload)
    prompt, output = workload.prompt.tolist(), workload.output.tolist()
    seen_from = [ceil(a) for a in workload.arrival.tolist()]
    latest = max(seen_from) + sum(output)
    least_rest = [0.0] * (n + 1)
    for i in range(n - 1, -1, -1):
        alone = seen_from[i] + output[i] - float(workload.arrival[i])
        least_rest[i] = least_rest[i + 1] + alone
    best = float("inf")

    def fits(starts, i, k):
        return all(
            held(prompt[i], k, output[i], at)
            + sum(held(prompt[j], starts[j], output[j], at) for j in range(i))
            <= memory
            for at in range(k + 1, k + output[i] + 1)
        )

    def fits_all(starts):
        """A later request may overflow a round in which an earlier one still grows."""
        last = max(starts[j] + output[j] for j in range(n))
        return all(
            sum(held(prompt[j], starts[j], output[j], at) for j in range(n)) <= memory
            for at in range(1, last + 1)
        )

    def place(starts, so_far):
        nonlocal best
        i = len(starts)
        if so_far + least_rest[i] >= best:
            return
        if i == n:
            if fits_all(starts):
                best = so_far
            return
        for k in range(seen_from[i], latest + 1):
            latency = k + output[i] - float(workload.arrival[i])
            if so_far + latency + least_rest[i + 1] >= best:
                break
            if fits(starts, i, k):
                place([*starts, k], so_far + latency)

    place([], 0.0)
    return best


def dual_function(workload, memory, prices):
    """L(lam) exactly, as a fraction, by trying every start up to the end of the prices."""
    first = min(ceil(a) for a in workload.arrival.tolist())
    lam = [Fraction(0) if t <= first else Fraction(price) for t, price in enumerate(prices)]

    def price(t):
        return lam[t] if t < len(lam) else Fraction(0)

    total = -memory * sum(lam)
    for a, s, o in zip(
        workload.arrival.tolist(), workload.prompt.tolist(), workload.output.tolist(), strict=True
    ):
        begin = ceil(a)
        total += min(
            k + o - Fraction(a) + sum((s + j) * price(k + j) for j in range(1, o + 1))
            for k in range(begin, max(begin, len(lam)) + 1)
        )
    return total
