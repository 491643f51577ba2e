"""WAIT and Nested WAIT from the specification's words alone: nothing of the engine is imported."""

import math
from fractions import Fraction
from statistics import median

from tests.twins.bare_policies import fits_ahead, preempt_newest


class Borderline(Exception):
    """A group's size hangs on rounding in the last place."""


def types(prompt, output, kind):
    """The class of each; long or short by prompt and by output where there is only one."""
    if len(set(kind)) > 1:
        return kind
    return [(s > median(prompt), o > median(output)) for s, o in zip(prompt, output, strict=True)]


def fluid_round(server, output):
    """The least round T in which what arrives in T is served in T, by halving; all by their sums.

    What a round of T asks is a line up to the knee and a steeper one beyond.
    """
    span = max(server.arrival) - min(server.arrival)
    n = len(output)
    decoded = sum(output) - n
    prefilled = sum(server.prompt)
    read = sum(
        s + j - 1 for s, o in zip(server.prompt, output, strict=True) for j in range(2, o + 1)
    )
    held = sum(s + j for s, o in zip(server.prompt, output, strict=True) for j in range(1, o + 1))
    c0, c1, n0, c2, c3 = server.step or (1, 0, 0, 0, 0)

    def asked(length):
        share = length / span
        over = max(0.0, (prefilled + decoded) * share - n0)
        return c0 + c1 * over + (c2 * read + c3 * decoded) * share

    low, high = 0.0, n0 * span / (prefilled + decoded)
    while asked(high) > high:
        low, high = high, 2 * high + 1
        if high > 1e9:
            return server.memory * span / held
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if asked(middle) > middle else (low, middle)
    return high


def group_sizes(server, output, kind):
    """How many of each type arrive in a fluid round, at least one."""
    span = max(server.arrival) - min(server.arrival)
    sizes = {}
    for each_type in set(kind):
        in_a_round = kind.count(each_type) / span * fluid_round(server, output) if span else 1
        near = round(in_a_round)
        if abs(in_a_round - near) < 1e-6 * in_a_round and near != in_a_round:
            raise Borderline
        sizes[each_type] = max(1, math.ceil(in_a_round))
    return sizes


def wait(predicted, kind, sizes, max_wait, limit):
    """Exactly n_j of type j once n_j wait, each under look-ahead."""
    released, back = [], []

    def decide(server):
        pending = server.turn(i for i in server.waiting if i not in released and i not in back)
        group = []
        for each_type in set(kind):
            people = [i for i in pending if kind[i] == each_type]
            if people and (
                not server.coming or server.time >= server.arrival[people[0]] + max_wait
            ):
                group += people
            elif len(people) >= sizes[each_type]:
                group += people[: sizes[each_type]]
        released.extend(server.turn(group))
        rest = [server.arrival[i] + max_wait for i in pending if i not in group]
        server.alarm = min(rest, default=math.inf)
        victims = preempt_newest(server)
        back[:0] = victims
        if not victims:
            for i in back + released:
                if not fits_ahead(server, i, predicted, limit):
                    break
                server.admit(i)
        back[:] = [i for i in back if i in server.waiting]
        released[:] = [i for i in released if i in server.waiting]

    return decide


def gates(output, segments, group):
    """Generated tokens at each gate and how many go on together there."""
    places = sorted({k * max(output) // segments for k in range(1, segments)} - {0})
    sizes, size, before = [], Fraction(group), len(output)
    for place in places:
        passing = sum(o > place for o in output)
        share = Fraction(passing, before) if before else Fraction(0)
        size *= min(share + Fraction(1, 20), Fraction(99, 100))
        if abs(size - math.floor(size) - Fraction(1, 2)) < 1e-9:
            raise Borderline
        sizes.append(max(1, round(size)))
        before = passing
    return places, sizes


def nested_wait(places, sizes, group, max_wait):
    """Residents pause at gates with their KV cache; the newest restarts on overflow."""
    passed, since, joined = {}, {}, []

    def opens(server, people, size, came):
        return (
            not server.coming
            or len(people) >= size
            or server.time >= min(came(i) for i in people) + max_wait
        )

    def meet_gates(server):
        for number, (place, size) in enumerate(zip(places, sizes, strict=True)):
            here = [
                i
                for i in server.running + server.paused
                if passed.get(i, 0) == number and server.gen[i] == place
            ]
            for i in here:
                if i in server.running:
                    since[i] = server.time
                    server.running.remove(i)
                    server.paused.append(i)
            if here and opens(server, here, size, since.get):
                for i in here:
                    passed[i] = number + 1
                    server.paused.remove(i)
                    server.running.append(i)

    def decide(server):
        meet_gates(server)
        restarts = False
        while server.next_use() > server.memory:
            newest = max(server.running + server.paused, key=joined.index)
            server.put_out(newest, restarts=True)
            joined.remove(newest)
            passed[newest] = 0
            restarts = True
        new = server.turn(server.waiting)
        may_enter = new and opens(server, new, group, server.arrival.__getitem__)
        if may_enter and not (restarts and server.running):
            for i in new:
                if server.next_use([*server.running, i]) > server.memory:
                    break
                server.admit(i)
                joined.append(i)
        alarms = [since[i] + max_wait for i in server.paused]
        alarms += [server.arrival[i] + max_wait for i in server.waiting]
        server.alarm = min([a for a in alarms if a > server.time], default=math.inf)

    return decide
