"""Sorted-F and its kin from the specification's words alone: nothing of the engine is imported."""

from fractions import Fraction
from itertools import combinations

from tests.twins.bare_policies import fits_ahead, preempt_newest


def worth(batch, output, size):
    """What is least for the best batch: F, then the larger count, then the smaller size."""
    return (
        Fraction(sum(output[i] for i in batch), len(batch) ** 2),
        -len(batch),
        sum(size[i] for i in batch),
    )


def least_f(waiting, output, size, memory):
    """The batch of least F of all there are; of equals the first in lexicographic order."""
    people = sorted(waiting)
    batches = [
        batch
        for count in range(1, len(people) + 1)
        for batch in combinations(people, count)
        if sum(size[i] for i in batch) <= memory
    ]
    return min(batches, key=lambda batch: (*worth(batch, output, size), batch))


def best_fill(waiting, prompt, output, memory):
    """Of fills by output, size and volume, each cut where F is least, the best."""
    size = {i: prompt[i] + output[i] for i in waiting}
    keys = (
        lambda i: output[i],
        lambda i: size[i],
        lambda i: sum(prompt[i] + j for j in range(1, output[i] + 1)),
    )
    best = None
    for key in keys:
        batch, cut = [], None
        for i in sorted(waiting, key=lambda i: (key(i), size[i], i)):
            if sum(size[j] for j in batch) + size[i] <= memory:
                batch.append(i)
                share = worth(batch, output, size)
                if cut is None or share[0] <= worth(cut, output, size)[0]:
                    cut = list(batch)
        if best is None or worth(cut, output, size) < worth(best, output, size):
            best = cut
    return best


def local_search(waiting, prompt, output, memory):
    """From the best fill, the best exchange, addition or drop, until none is better."""
    size = {i: prompt[i] + output[i] for i in waiting}
    batch = sorted(best_fill(waiting, prompt, output, memory))
    by_size = sorted(waiting, key=lambda i: (size[i], i))

    def moves():
        inside = [i for i in by_size if i in batch]
        outside = [i for i in by_size if i not in batch]
        yield from ([i for i in batch if i != out] + [into] for out in inside for into in outside)
        yield from ([*batch, into] for into in outside)
        if len(batch) > 1:
            yield from ([i for i in batch if i != out] for out in reversed(inside))

    while True:
        possible = [move for move in moves() if sum(size[i] for i in move) <= memory]
        best = min(possible, key=lambda move: worth(move, output, size), default=batch)
        if worth(best, output, size) >= worth(batch, output, size):
            return batch
        batch = sorted(best)


def listed(server, output, choose):
    """Phase 1 over all requests: batch after batch, each by output, arrival, row."""
    left, line = list(range(len(output))), []
    while left:
        batch = choose(left, output)
        line += sorted(batch, key=lambda i: (output[i], server.arrival[i], i))
        left = [i for i in left if i not in batch]
    return line


def recovers(server, back):
    """Whether anybody was preempted; they stand before those who were before."""
    victims = preempt_newest(server)
    back[:0] = victims
    return bool(victims)


def along(line, predicted, limit, skip):
    """Phase 2: look-ahead along a list; who was preempted goes before it."""
    back = []

    def decide(server):
        if recovers(server, back):
            return
        passed = 0
        for i in back + [i for i in line if i not in back]:
            if i not in server.waiting:
                continue
            if fits_ahead(server, i, predicted, limit):
                server.admit(i)
            elif passed == skip:
                break
            else:
                passed += 1
        back[:] = [i for i in back if i in server.waiting]

    return decide


def start_along_plans(server, output, limit, choose):
    """The head of the plan while it fits; a plan of who waits then, where it does not."""

    def plan():
        batch = choose(server.waiting, output)
        return sorted(batch, key=lambda i: (output[i], server.arrival[i], i))

    line, fresh = [], False
    while server.waiting:
        if not line:
            line, fresh = plan(), True
        if fits_ahead(server, line[0], output, limit):
            server.admit(line.pop(0))
            fresh = False
        elif fresh:
            return
        else:
            line = []


def online(predicted, limit, choose):
    """Phase 1 anew on who waits; recovery as vllm's."""
    back = []

    def decide(server):
        if recovers(server, back):
            return
        for i in list(back):
            if not fits_ahead(server, i, predicted, limit):
                return
            server.admit(i)
            back.remove(i)
        start_along_plans(server, predicted, limit, choose)

    return decide


def with_a_min(lo, limit, choose):
    """Phase 1 on lower bounds, raised for the least of them when memory runs out."""
    lo = list(lo)

    def decide(server):
        while server.next_use() > server.memory:
            victim = min(server.running, key=lambda i: (lo[i], server.arrival[i], i))
            lo[victim] = max(lo[victim], server.gen[victim])
            server.put_out(victim, restarts=True)
        start_along_plans(server, lo, limit, choose)

    return decide
