"""The rules of the policies that are no order, from the specification's words alone.

Nothing of the engine is imported. Each function makes a `decide(server)` for
tests/twins/bare_server.py; `predicted` is a list by row, `limit` tokens below M or M itself.
"""

import math
from statistics import median


def planned(server, i, predicted):
    return min(max(predicted[i], server.gen[i] + 1), server.memory - server.prompt[i])


def fits_ahead(server, i, predicted, limit):
    """Whether at no round to come, if all goes as planned, more than the limit is held."""
    if not server.running:
        return True
    plan = [(j, planned(server, j, predicted) - server.gen[j]) for j in [*server.running, i]]
    for ahead in range(1, max(left for _, left in plan) + 1):
        if sum(server.holds(j) + ahead for j, left in plan if left >= ahead) > limit:
            return False
    return True


def preempt_newest(server):
    """Those put out before a round that memory has no room for, in order of admission."""
    victims = []
    while server.next_use() > server.memory:
        victims.insert(0, server.running[-1])
        server.put_out(server.running[-1])
    return victims


def static(predicted):
    """A batch on an empty server; finished members hold their memory until it ends."""
    members, back = [], []

    def decide(server):
        kept = sum(server.holds(i) for i in members if server.finished[i] is not None)
        while server.running and server.next_use() + kept > server.memory:
            victim = server.running[-1]
            server.put_out(victim)
            members.remove(victim)
            back.insert(0, victim)
        if server.running:
            return
        members.clear()
        new = server.turn(i for i in server.waiting if i not in back)
        for i in back + new:
            batch = [*members, i]
            room = sum(server.prompt[j] for j in batch)
            room += len(batch) * max(planned(server, j, predicted) for j in batch)
            if len(batch) > 1 and room > server.memory:
                break
            server.admit(i)
            members.append(i)
        back[:] = [i for i in back if i in server.waiting]

    return decide


def uniforms(seed):
    """xorshift64* in plain integers, one number in [0, 1) a call."""
    mask = 2**64 - 1
    state = ((1 ^ seed) * 0x9E3779B97F4A7C15 + 1) & mask

    def draw():
        nonlocal state
        state ^= state >> 12
        state = (state ^ (state << 25)) & mask
        state ^= state >> 27
        return ((state * 0x2545F4914F6CDD1D & mask) >> 11) / 2**53

    draw()
    return draw


def alpha_beta(limit, beta, seed):
    """Present use below the limit; on overflow sweeps that clear each with probability beta."""
    draw = uniforms(seed)

    def decide(server):
        overflows = server.next_use() > server.memory
        while server.next_use() > server.memory:
            for i in list(server.running):
                if draw() < beta:
                    server.put_out(i, restarts=True)
        if overflows and server.running:
            return
        for i in server.turn(server.waiting):
            if server.running and server.next_use([*server.running, i]) > limit:
                break
            server.admit(i)

    return decide


def fastserve(quantum, starved, transfer):
    """A multi-level feedback queue that skips levels too short for the prompt, and swaps."""
    level, used, idle = {}, {}, {}

    def decide(server):
        there = server.running + server.waiting
        for i in there:
            if i not in level:
                level[i] = used[i] = idle[i] = 0
                while quantum * 2 ** level[i] < math.ceil(server.prompt[i] / 512):
                    level[i] += 1
            elif i in server.running:
                used[i] += 1
            if used[i] == quantum * 2 ** level[i]:
                level[i], used[i] = level[i] + 1, 0
            if level[i] > 0 and idle[i] >= starved:
                level[i] = used[i] = 0
        best = sorted(there, key=lambda i: (level[i], server.arrival[i], i))
        while server.next_use(best) > server.memory:
            best.pop()
        for i in there:
            moves = (i in best) != (i in server.running)
            if moves and server.started[i] is not None:
                server.extra += transfer * server.holds(i)
            if moves and i in best:
                server.admit(i)
            elif moves:
                server.put_out(i, swapped=True)
            idle[i] = 0 if i in best else idle[i] + 1

    return decide


def complementary(predicted, limit, transfer):
    """Pairs by the medians of those who wait; the smallest are swapped out."""
    swapped = []

    def smallest_first(server):
        return min(reversed(server.running), key=server.holds)  # of equals the newest

    def one_start(server, i):
        if not fits_ahead(server, i, predicted, limit):
            return False
        if i in swapped:
            server.extra += transfer * server.holds(i)
        server.admit(i)
        return True

    def decide(server):
        batch, overflows = list(server.running), server.next_use() > server.memory
        while server.next_use() > server.memory:
            victim = smallest_first(server)
            server.extra += transfer * server.holds(victim)
            server.put_out(victim, swapped=True)
        swapped[:0] = [i for i in batch if i not in server.running]
        if overflows:
            return
        new = server.turn(i for i in server.waiting if i not in swapped)
        for i in swapped + pairs(server, new, predicted):
            if not one_start(server, i):
                break
        swapped[:] = [i for i in swapped if i in server.waiting]

    return decide


def pairs(server, new, predicted):
    """The oldest (low s, high o), the oldest (high s, low o), in turn; the rest by arrival."""
    if not new:
        return []
    middle_prompt = median(server.prompt[i] for i in new)
    middle_output = median(predicted[i] for i in new)
    sides = [(server.prompt[i] > middle_prompt, predicted[i] > middle_output) for i in new]
    growing = [i for i, side in zip(new, sides, strict=True) if side == (False, True)]
    shrinking = [i for i, side in zip(new, sides, strict=True) if side == (True, False)]
    line = []
    while growing and shrinking:
        line += [growing.pop(0), shrinking.pop(0)]
    return line + [i for i in new if i not in line]
