"""Plain twins of the rules that keep the first few in an order, as memory allows."""

import math


def keep_prefix(server, key, swap, transfer=0.0):
    """The longest prefix by key of all that are there runs; the others are put out."""
    kept, used = [], 0
    for i in sorted([*server.running, *server.waiting], key=key):
        used += server.held(i) + 1
        if used > server.memory:
            break
        kept.append(i)
    for i in list(server.running):
        if i not in kept:
            server.drop(i, swap=swap)
            server.extra += transfer * server.held(i) if swap else 0.0
    for i in kept:
        if i not in server.running:
            again = swap and server.start[i] is not None
            server.extra += transfer * server.held(i) if again else 0.0
            server.admit(i, swapped=again)


def srpt(planned):
    """Ranked by planned tokens left, arrival, index."""

    def decide(server):
        def key(i):
            return (max(planned[i] - server.gen[i], 1), server.arrival[i], i)

        keep_prefix(server, key, swap=False)

    return decide


def fastserve(quantum, starved, transfer):
    """Levels, counters of tokens used on them and of rounds without service."""
    level, used, idle, last_gen = {}, {}, {}, {}

    def decide(server):
        for i in [*server.running, *server.waiting]:
            if i not in level:
                level[i] = next(
                    p for p in range(99) if quantum * 2**p >= math.ceil(server.prompt[i] / 512)
                )
                used[i] = idle[i] = last_gen[i] = 0
            used[i] += server.gen[i] - last_gen[i]
            last_gen[i] = server.gen[i]
            if used[i] >= quantum * 2 ** level[i]:
                level[i] += 1
                used[i] = 0
            if idle[i] >= starved and level[i] > 0:
                level[i] = used[i] = 0
        keep_prefix(server, lambda i: (level[i], server.arrival[i], i), True, transfer)
        for i in server.running:
            idle[i] = 0
        for i in server.waiting:
            idle[i] += 1

    return decide
