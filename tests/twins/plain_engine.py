"""A slow, plain twin of a serving engine: every step, every block, on either clock.

Written from docs/model.md 1.7 alone. It met all recorded schedules of the real vLLM before the
kernel was written (tests/engine/simulate/test_in_engine.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from engine.machine.clock import Clock
from engine.policy import find_policy


@dataclass
class PlainEngine:
    """One run; the attributes are (n,) lists.

    Attributes
    ----------
    requests : (arrival, prompt, output) each
    rank : the place of each in the order of those who wait
    options : an Engine's options
    """

    requests: list
    rank: list
    memory: int
    clock: Clock
    options: dict
    newest: bool
    waiting: list = field(default_factory=list)
    returned: list = field(default_factory=list)  # of those preempted, the first to go first
    running: list = field(default_factory=list)
    used: list = field(default_factory=list)  # tokens held at the end of every round

    def __post_init__(self):
        n = len(self.requests)
        self.arrival, self.prompt, self.output = (
            list(column) for column in zip(*self.requests, strict=True)
        )
        self.done, self.gen, self.blocks, self.lost, self.again = ([0] * n for _ in range(5))
        self.start, self.first, self.finish = ([None] * n for _ in range(3))
        self.finished_at = [None] * n
        self.coming = sorted(range(n), key=lambda i: (self.arrival[i], i))
        self.free = self.memory // self.options["block_size"]
        self.total, self.time, self.round = self.free, 0.0, 0
        self.decodes = set()  # who has its prompt's cache
        self.most = self.options["max_output"] or max(self.output)

    def need(self, tokens):
        """Blocks for the cache of so many tokens."""
        stored = tokens + 1 + self.options["standing"]
        return -(-stored // self.options["block_size"])

    def promise(self, i):
        return min(self.total, self.need(self.prompt[i] + max(self.most, self.output[i]) - 1))

    def run(self):
        while None in self.finish:
            if not (self.waiting or self.returned or self.running):
                self.sleep()
            while self.coming and self.arrival[self.coming[0]] <= self.time:
                self.waiting.append(self.coming.pop(0))
            self.step()
        return self

    def sleep(self):
        self.time = max(self.time, self.arrival[self.coming[0]])
        if self.clock.whole:
            self.time = math.ceil(self.time)
            self.round = self.time

    def step(self):
        self.budget = self.options["max_num_batched_tokens"] or math.inf
        self.given, self.preempted = {}, False
        self.go_on()
        if not self.preempted:
            self.admit()
        self.pass_round()

    def go_on(self):
        place = 0
        while place < len(self.running) and self.budget > 0:
            i = self.running[place]
            chunk = min(self.prompt[i] + self.gen[i] - self.done[i], self.budget)
            while self.need(self.done[i] + chunk) - self.blocks[i] > self.free:
                victim = self.running[-1] if self.newest else max(self.running, key=self.ranked)
                before = self.running.index(victim) < place
                self.preempt(victim)
                place -= before
                if victim == i:
                    return
            self.take(i, chunk)
            place += 1

    def ranked(self, i):
        return self.rank[i]

    def take(self, i, chunk):
        more = self.need(self.done[i] + chunk) - self.blocks[i]
        self.free -= more
        self.blocks[i] += more
        self.given[i] = chunk
        self.budget -= chunk

    def preempt(self, i):
        self.preempted = True
        self.budget += self.given.pop(i, 0)
        self.running.remove(i)
        self.free += self.blocks[i]
        self.again[i] += self.done[i] + (i in self.decodes)
        self.decodes.discard(i)
        self.blocks[i] = self.done[i] = 0
        self.lost[i] += 1
        if self.newest:
            self.returned.insert(0, i)
        else:
            self.waiting.append(i)

    def fits(self, i, chunk):
        pool = self.total + 1  # with the block that holds nothing
        kept = math.floor(self.options["watermark"] * pool) if self.running else 0
        if self.options["admission"] == "reserve":
            promised = sum(self.promise(j) for j in self.running)
            return promised + self.promise(i) <= self.total - kept
        whole = self.options["reserve_full_input"]
        return self.need(self.prompt[i] + self.gen[i] if whole else chunk) <= self.free - kept

    def admit(self):
        while self.waiting or self.returned:
            queue = self.returned or self.waiting
            i = queue[0] if self.returned else min(queue, key=self.ranked)
            full = len(self.running) >= (self.options["max_num_seqs"] or math.inf)
            if full or self.budget <= 0:
                return
            tokens = self.prompt[i] + self.gen[i]
            chunk = min(tokens, self.budget) if self.options["chunked_prefill"] else tokens
            if chunk > self.budget:  # whole prompts only
                prefills = any(j not in self.decodes for j in self.given)
                if prefills or chunk <= self.options["max_num_batched_tokens"]:
                    return
            if not self.fits(i, chunk):
                return
            queue.remove(i)
            self.running.append(i)
            if self.start[i] is None:
                self.start[i] = self.round
            self.take(i, chunk)

    def pass_round(self):
        prefilled = decoding = context = 0
        for i, chunk in self.given.items():
            holding = self.prompt[i] + self.gen[i]
            if i in self.decodes:
                decoding += 1
                context += holding
            else:
                prefilled += chunk
        self.round += 1
        self.time += self.clock.step(prefilled, decoding, context)
        for i, chunk in self.given.items():
            self.done[i] += chunk
        self.used.append(sum(self.blocks) * self.options["block_size"])
        assert sum(self.blocks) + self.free == self.total
        for i in list(self.given):
            if self.done[i] == self.prompt[i] + self.gen[i]:
                self.yield_token(i)

    def yield_token(self, i):
        self.decodes.add(i)
        self.gen[i] += 1
        self.first[i] = self.first[i] or self.round
        if self.gen[i] == self.output[i]:
            self.finish[i], self.finished_at[i] = self.round, self.time
            self.decodes.discard(i)
            self.running.remove(i)
            self.free += self.blocks[i]
            self.blocks[i] = 0


def twin_of(workload, memory, engine, clock, key):
    """The run of a policy, by its key, inside an engine."""
    order = find_policy(key).order(workload, memory, clock, None, {})
    rank = np.argsort(order).tolist()
    by_arrival = workload.ascending(workload.arrival)
    newest = np.array_equal(order, by_arrival) if engine.victim == "order" else None
    newest = engine.victim == "newest" if newest is None else newest
    rows = zip(
        workload.arrival.tolist(), workload.prompt.tolist(), workload.output.tolist(), strict=True
    )
    return PlainEngine(list(rows), rank, memory, clock, engine.options, newest).run()
