"""Plain twins of the online policies' rules, written from docs/model.md 2 alone, round by round.

Each is a function that makes a `decide(server)` for tests/twins/plain_server.py. They take
requests in order of (arrival, row), which in the tests is the order of the indices.
"""

import math

import numpy as np

from engine.simulate.random_stream import seeded, uniform


class Stuck(Exception):
    """The twin has seen a livelock."""


def by_arrival(server, people):
    return sorted(people, key=lambda i: (server.arrival[i], i))


def orca(longest):
    """Everyone reserves the longest output."""

    def decide(server):
        def reserved(i):
            return min(server.prompt[i] + longest, server.memory)

        for i in by_arrival(server, server.waiting):
            if sum(reserved(j) for j in [*server.running, i]) > server.memory:
                break
            server.admit(i)

    return decide


def static(predicted):
    """A batch at a time; those who have finished stay until it ends."""
    back = []

    def planned(server, i):
        return min(max(predicted[i], server.gen[i] + 1), server.memory - server.prompt[i])

    def decide(server):
        just_finished = [i for i in range(len(server.finish)) if server.finish[i] == server.round]
        if server.running:
            server.resident += [i for i in just_finished if i not in server.resident]
        kept = sum(server.held(i) for i in server.resident)
        victims = []
        while server.running and server.need() + kept > server.memory:
            victims.insert(0, server.running[-1])
            server.drop(server.running[-1])
        back[:0] = victims
        if server.running:
            return
        server.resident.clear()
        batch = []
        for i in [*back, *(i for i in by_arrival(server, server.waiting) if i not in back)]:
            more = [*batch, i]
            room = sum(server.prompt[j] for j in more)
            room += len(more) * max(planned(server, j) for j in more)
            if batch and room > server.memory:
                break
            batch = more
        for i in batch:
            server.admit(i)
        back[:] = [i for i in back if i in server.waiting]

    return decide


def admit_on_use(server, order, limit, most=math.inf):
    """Admit in order while present use stays within the limit, M on an empty server."""
    for i in order:
        allowed = limit if server.running else server.memory
        if server.need() + server.held(i) + 1 > allowed or len(server.running) >= most:
            break
        server.admit(i)


def restarting(limit, beta, patience, seed):
    """Sweeps that clear with probability beta; with beta = 1 the livelock of the specification."""
    chance = seeded(seed)
    seen = []  # what was running at each clearing since somebody completed or arrived
    last = [None]

    def decide(server):
        cleared = server.need() > server.memory
        if cleared:
            finished = sum(f is not None for f in server.finish)
            events = (finished, len(server.coming), len(server.gone))
            if last[0] != events:
                seen.clear()
            last[0] = events
            seen.append(sorted(server.running))
            repeats = beta == 1 and len(seen) > 1 and seen[-1] == seen[-2]
            if repeats or (beta < 1 and len(seen) > patience):
                raise Stuck
        while server.need() > server.memory:
            for i in list(server.running):
                if uniform(chance) < beta:
                    server.drop(i, keep=False)
        if not cleared or not server.running:
            admit_on_use(server, by_arrival(server, server.waiting), limit)

    return decide


def vllm_priority(priority, ageing, limit, most):
    """The smallest aged priority first; the largest of the batch has to go."""

    def key(server, i):
        return (priority[i] + ageing * server.arrival[i], server.arrival[i], i)

    def decide(server):
        if server.need() > server.memory:
            while server.need() > server.memory:
                server.drop(max(server.running, key=lambda i: key(server, i)))
            return
        order = sorted(server.waiting, key=lambda i: key(server, i))
        admit_on_use(server, order, limit, most)

    return decide


class LookAhead:
    """Whether memory stays within the limit if all goes as planned."""

    def __init__(self, predicted, limit, tenths=0):
        self.predicted, self.limit, self.tenths = predicted, limit, tenths

    def left(self, server, i):
        gen = server.gen[i]
        planned = max(self.predicted[i], gen + gen * self.tenths // 10, gen + 1)
        return min(planned, server.memory - server.prompt[i]) - gen

    def fits(self, server, candidate):
        if not server.running:
            return True
        plan = [(server.held(i), self.left(server, i)) for i in [*server.running, candidate]]
        return all(
            sum(held + ahead for held, left in plan if left >= ahead) <= self.limit
            for ahead in range(1, max(left for _, left in plan) + 1)
        )

    def admit(self, server, order, swapped=(), transfer=0.0):
        """Admit in order, stop at the first that does not fit; whether all did."""
        for i in order:
            if not self.fits(server, i):
                return False
            again = i in swapped
            server.extra += transfer * server.held(i) if again else 0.0
            server.admit(i, swapped=again)
        return True


def preempt_newest(server):
    """vLLM's recovery: the victims, in order of admission."""
    victims = []
    while server.need() > server.memory:
        victims.insert(0, server.running[-1])
        server.drop(server.running[-1])
    return victims


def past_future(predicted, limit):
    """Arrival order, look-ahead, a tenth more than what has been generated."""
    plans = LookAhead(predicted, limit, tenths=1)

    def decide(server):
        if not preempt_newest(server):
            # Who was preempted was admitted, and had arrived, before those who were not yet.
            plans.admit(server, by_arrival(server, server.waiting))

    return decide


def complementary(predicted, limit, transfer):
    """Pairs of (short prompt, long output) and the reverse, then the rest by arrival."""
    plans = LookAhead(predicted, limit)
    swapped = []

    def decide(server):
        admitted = list(server.running)
        out = []
        while server.need() > server.memory:
            victim = min(server.running[::-1], key=server.held)
            server.extra += transfer * server.held(victim)
            server.drop(victim, swap=True)
            out.append(victim)
        if out:
            swapped[:0] = [i for i in admitted if i in out]
            return
        all_back = plans.admit(server, list(swapped), swapped, transfer)
        swapped[:] = [i for i in swapped if i in server.waiting]
        if not all_back:
            return
        new = by_arrival(server, server.waiting)
        if new:
            plans.admit(server, _paired(server, new, predicted))

    return decide


def _paired(server, new, predicted):
    short = {i: server.prompt[i] <= np.median([server.prompt[j] for j in new]) for i in new}
    brief = {i: predicted[i] <= np.median([predicted[j] for j in new]) for i in new}
    growing = [i for i in new if short[i] and not brief[i]]
    shrinking = [i for i in new if not short[i] and brief[i]]
    pairs = [i for pair in zip(growing, shrinking, strict=False) for i in pair]
    return pairs + [i for i in new if i not in pairs]


def wait(type_of, sizes, predicted, max_wait, limit):
    """Groups of a type; those in line start as look-ahead allows."""
    plans = LookAhead(predicted, limit)
    in_line, back = [], []

    def decide(server):
        in_line[:] = [i for i in in_line if i in server.waiting]
        new = [i for i in server.waiting if i not in in_line and i not in back]
        opened = []
        for kind in range(len(sizes)):
            pending = by_arrival(server, [i for i in new if type_of[i] == kind])
            if not pending:
                continue
            due = server.time >= server.arrival[pending[0]] + max_wait
            if not (server.coming or server.later) or due:
                opened += pending
            elif len(pending) >= sizes[kind]:
                opened += pending[: sizes[kind]]
        in_line.extend(sorted(opened))
        waits = [i for i in new if i not in opened]
        server.alarm = min([server.arrival[i] + max_wait for i in waits], default=math.inf)
        victims = preempt_newest(server)
        back[:0] = victims
        if not victims:
            plans.admit(server, back + in_line)
        back[:] = [i for i in back if i in server.waiting]
        in_line[:] = [i for i in in_line if i in server.waiting]

    decide.in_line = in_line  # for those who want to see it
    return decide


def nested_wait(gates, sizes, group, max_wait):
    """Gates at which residents pause until a group stands there."""
    passed, since, admitted = {}, {}, []

    def decide(server):
        all_open = not (server.coming or server.later)
        at_gate = {}
        for i in [*server.running, *server.resident]:
            gate = passed.setdefault(i, 0)
            if server.gen[i] == gates[gate]:
                at_gate.setdefault(gate, []).append(i)
                if i in server.running:
                    since[i] = server.time
        for gate, people in at_gate.items():
            waited = server.time >= min(since[i] for i in people) + max_wait
            for i in people:
                if all_open or waited or len(people) >= sizes[gate]:
                    passed[i] += 1
                    if i in server.resident:
                        server.resident.remove(i)
                        server.running.append(i)
                elif i in server.running:
                    server.running.remove(i)
                    server.resident.append(i)
        restarted = False
        while _use(server) > server.memory:
            newest = max([*server.running, *server.resident], key=admitted.index)
            if newest in server.resident:
                server.resident.remove(newest)
                server.running.append(newest)
            server.drop(newest, keep=False)
            passed[newest] = 0
            admitted.remove(newest)
            restarted = True
        alarms = [since[i] + max_wait for i in server.resident]
        if not (restarted and server.running):
            alarms.append(_enter(server, all_open))
        server.alarm = min(alarms, default=math.inf)

    def _enter(server, all_open):
        new = by_arrival(server, server.waiting)
        if not new:
            return math.inf
        due = server.arrival[new[0]] + max_wait
        if not (all_open or len(new) >= group or server.time >= due):
            return due
        for i in new:
            if _use(server) + server.held(i) + 1 > server.memory:
                break
            server.admit(i)
            admitted.append(i)
        left = by_arrival(server, server.waiting)
        due = server.arrival[left[0]] + max_wait if left else math.inf
        return due if due > server.time else math.inf

    def _use(server):
        return server.need() + sum(server.held(i) for i in server.resident)

    return decide
