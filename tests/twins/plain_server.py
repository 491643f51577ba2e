"""A slow, plain twin of the server: it walks every round and every token, on either clock.

Written from docs/model.md 1.1, 1.2 and 2 alone, without the kernels' shortcuts, so that agreement
means something. A policy's twin is a function that is called before each round and uses
`admit` and `drop`.
"""

import math
from dataclasses import dataclass, field

from engine.machine.clock import Clock
from engine.workload import Workload


@dataclass
class PlainServer:
    workload: Workload
    memory: int
    clock: Clock
    time: float = 0.0
    round: int = 0
    running: list = field(default_factory=list)  # in order of admission
    waiting: list = field(default_factory=list)  # the head first
    used: list = field(default_factory=list)  # memory at the end of every round
    resident: list = field(default_factory=list)  # who holds memory and generates nothing
    extra: float = 0.0  # seconds on top of the next round
    alarm: float = math.inf  # when a policy wants to decide although nothing happens
    any_dropped: bool = False

    def __post_init__(self):
        n = len(self.workload)
        self.arrival = self.workload.arrival.tolist()
        self.gone = {}  # who left unserved, and why
        self.prompt = self.workload.prompt.tolist()
        self.output = self.workload.output.tolist()
        self.coming = sorted(range(n), key=lambda i: (self.arrival[i], i))
        self.later = []  # in a closed loop, who comes as others finish
        if self.workload.concurrency:
            self.arrival = [0.0] * n
            self.coming = list(range(min(n, self.workload.concurrency)))
            self.later = list(range(self.workload.concurrency, n))
        self.gen = [0] * n
        self.left = [0] * n  # prompt tokens still to prefill
        self.chunk = [0] * n  # of these, in the next round
        self.start, self.first_token, self.finish = ([None] * n for _ in range(3))
        self.started_at, self.first_token_at, self.finished_at = ([None] * n for _ in range(3))
        self.lost, self.recomputed = [0] * n, [0] * n
        self.token_at = [[] for _ in range(n)]

    def held(self, i):
        return self.prompt[i] + self.gen[i]

    def comes_cached(self, i):
        """Whether its KV cache is there without a prefill: on its first admission."""
        return self.workload.with_cache and self.start[i] is None

    def admit(self, i, chunk=None, swapped=False):
        """Into the batch; the whole prompt is prefilled in the next round, or `chunk` of it."""
        self.waiting.remove(i)
        self.running.append(i)
        swapped = swapped or self.comes_cached(i)
        self.left[i] = 0 if swapped else self.held(i)
        self.chunk[i] = self.left[i] if chunk is None or swapped else chunk
        if self.start[i] is None:
            self.start[i], self.started_at[i] = self.round, self.time

    def drop(self, i, keep=True, swap=False):
        """Out of the batch and to the front of the queue."""
        self.running.remove(i)
        self.waiting.insert(0, i)
        self.lost[i] += 1
        self.any_dropped = True
        if swap:
            return
        self.recomputed[i] += self.held(i) - self.left[i] if keep else self.gen[i]
        if not keep:
            self.gen[i] = 0
        self.left[i] = 0

    def run(self, decide):
        while len(self.gone) < self.finish.count(None):
            self._see_who_comes_and_goes()
            if not self.running and not self.waiting and not self.resident:
                if self.coming:
                    self._sleep(self.arrival[self.coming[0]])
                continue
            self.any_dropped = False
            decide(self)
            if not self.running:
                self._sleep(min([self.alarm, *self._next_events()]))
                continue
            self._step()
            assert self.used[-1] <= self.memory
        return self

    def new(self):
        """Who waits for the first admission."""
        return [i for i in self.waiting if self.start[i] is None]

    def _see_who_comes_and_goes(self):
        limit = self.workload.admission_limits.queue_limit or math.inf
        while self.coming and self.arrival[self.coming[0]] <= self.time:
            i = self.coming.pop(0)
            self._give_up(self.arrival[i])
            if len(self.new()) >= limit:
                self.gone[i] = "turned away"
            else:
                self.waiting.append(i)
            assert len(self.new()) <= limit
        self._give_up(self.time)

    def _give_up(self, moment):
        patience = self.workload.admission_limits.patience or math.inf
        for i in self.new():
            if self.arrival[i] + patience < moment:
                self.waiting.remove(i)
                self.gone[i] = "gave up"

    def _next_events(self):
        """When the next one comes or, just after, runs out of patience."""
        patience = self.workload.admission_limits.patience or math.inf
        ends = [math.nextafter(self.arrival[i] + patience, math.inf) for i in self.new()]
        return [self.arrival[i] for i in self.coming[:1]] + ends

    def _sleep(self, moment):
        if moment <= self.time or moment == math.inf:  # the last has just given up
            return
        if self.clock.whole:
            moment = math.ceil(moment)
            self.round = moment
        self.time = float(moment)

    def _step(self):
        batch = self.running
        decoding = [i for i in batch if self.left[i] == 0]
        prefilled = sum(self.chunk[i] for i in batch)
        context = sum(self.held(i) for i in decoding)
        self.time += self.clock.step(prefilled, len(decoding), context)
        self.time += 0.0 if self.clock.whole else self.extra
        self.extra = 0.0
        self.round += 1
        for i in list(batch):
            self.left[i] -= self.chunk[i]
            self.chunk[i] = 0
            if self.left[i] == 0:
                self._token(i)
        self.used.append(sum(self.held(i) for i in [*batch, *self.resident]))
        self.running = [i for i in batch if self.finish[i] is None]

    def _token(self, i):
        self.gen[i] += 1
        self.token_at[i].append(self.time)
        if self.first_token[i] is None:
            self.first_token[i], self.first_token_at[i] = self.round, self.time
        if self.gen[i] == self.output[i]:
            self.finish[i], self.finished_at[i] = self.round, self.time
            if self.later:
                self.arrival[self.later[0]] = self.time
                self.coming.append(self.later.pop(0))

    def need(self):
        return sum(self.held(i) + 1 for i in self.running)


def look_ahead(order, skip=0):
    """Start, in order, what would never overflow M."""

    def fits(server, candidate):
        plan = [(server.held(i), server.output[i] - server.gen[i]) for i in server.running]
        plan.append((server.prompt[candidate], server.output[candidate]))
        return all(
            sum(held + ahead for held, left in plan if left >= ahead) <= server.memory
            for ahead in range(1, max(left for _, left in plan) + 1)
        )

    def decide(server):
        passed_over = 0
        for i in order:
            if i not in server.waiting:
                continue
            if fits(server, i):
                server.admit(i)
            else:
                passed_over += 1
                if passed_over > skip:
                    break

    return decide


def _in_blocks(tokens, block):
    return math.ceil(tokens / block) * block


def _preempt(server, rule, memory):
    def need():
        return sum(_in_blocks(server.held(i) + 1, rule.block) for i in server.running)

    victims = []
    admitted = list(server.running)
    while need() > memory:
        newest_first = server.running[::-1]
        key = {
            0: lambda i: 0,
            1: lambda i: server.held(i),
            2: lambda i: -server.gen[i],
        }[rule.victim]
        victim = max(newest_first, key=key)
        if rule.swap:
            server.extra += rule.transfer * server.held(victim)
        server.drop(victim, swap=rule.swap)
        victims.append(victim)
    # At the front of the queue they stand in order of admission.
    in_order = [i for i in admitted if i in victims]
    server.waiting = in_order + [i for i in server.waiting if i not in victims]
    return need


def preempting(rule, swapped):
    """vLLM's rule; `swapped` is a set for whom to remember."""

    def decide(server):
        memory = server.memory // rule.block * rule.block
        need = _preempt(server, rule, memory)
        swapped.update(i for i in server.waiting if rule.swap and server.lost[i])
        while server.waiting and not server.any_dropped:
            i = server.waiting[0]
            more = _in_blocks(server.held(i) + 1, rule.block)
            limit = rule.limit if server.running else memory
            if need() + more > limit or len(server.running) >= rule.max_num_seqs:
                break
            fresh = [j for j in server.running if server.left[j] > 0]
            tokens = sum(server.held(j) if j in fresh else 1 for j in server.running)
            mine = 1 if i in swapped else server.held(i)
            too_many = tokens + mine > rule.max_tokens
            if too_many and (fresh or server.held(i) <= rule.max_tokens):
                break
            if i in swapped:
                server.extra += rule.transfer * server.held(i)
            server.admit(i, swapped=i in swapped)

    return decide


def chunked(rule):
    """The same with prompts in chunks."""

    def decide(server):
        memory = server.memory // rule.block * rule.block
        need = _preempt(server, rule, memory)
        budget = rule.max_tokens - sum(server.left[i] == 0 for i in server.running)
        for i in server.running:
            server.chunk[i] = max(0, min(server.left[i], budget))
            budget -= server.chunk[i]
        while server.waiting and not server.any_dropped and budget > 0:
            i = server.waiting[0]
            more = _in_blocks(server.held(i) + 1, rule.block)
            limit = rule.limit if server.running else memory
            if need() + more > limit or len(server.running) >= rule.max_num_seqs:
                break
            chunk = min(server.held(i), budget)
            budget -= 1 if server.comes_cached(i) else chunk
            server.admit(i, chunk)

    return decide
