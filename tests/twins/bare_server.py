"""A server of bare lists that imports nothing of the engine: it walks round after round.

Written from the definitions of the model alone: a round with N = P + B tokens, K of them read,
lasts c0 + c1 max(0, N - N0) + c2 K + c3 B seconds, or 1 on the rounds clock. What a policy does
before a round is a function `decide(server)` of tests/twins/bare_policies.py and its neighbours.
"""

import math
from dataclasses import dataclass, field


class Endless(Exception):
    """More rounds than any run of these sizes takes."""


@dataclass
class BareServer:
    """Lists by row; `step` is (c0, c1, N0, c2, c3), or None for the rounds clock."""

    arrival: list
    prompt: list
    output: list
    memory: int
    step: tuple | None = None
    time: float = 0.0
    rounds: int = 0
    running: list = field(default_factory=list)  # the last admitted is last
    paused: list = field(default_factory=list)  # they hold memory and generate nothing
    waiting: list = field(default_factory=list)
    extra: float = 0.0  # seconds on top of the next round
    alarm: float = math.inf  # when to decide again although nothing happens

    def __post_init__(self):
        n = len(self.arrival)
        self.coming = list(range(n))
        self.gen, self.losses = [0] * n, [0] * n
        self.started, self.finished = [None] * n, [None] * n
        self.prefills = [True] * n

    def turn(self, people):
        """In order of arrival; the row breaks ties."""
        return sorted(people, key=lambda i: (self.arrival[i], i))

    def holds(self, i):
        return self.prompt[i] + self.gen[i]

    def next_use(self, people=None):
        """Tokens at the end of the next round if these run, and what the paused hold."""
        people = self.running if people is None else people
        return sum(self.holds(i) + 1 for i in people) + sum(self.holds(i) for i in self.paused)

    def admit(self, i):
        self.waiting.remove(i)
        self.running.append(i)
        if self.started[i] is None:
            self.started[i] = self.time

    def put_out(self, i, swapped=False, restarts=False):
        (self.running if i in self.running else self.paused).remove(i)
        self.waiting.append(i)
        self.losses[i] += 1
        self.prefills[i] = not swapped
        if restarts:
            self.gen[i] = 0

    def walk(self, decide):
        """Serve all; (started, finished, losses) by row."""
        while None in self.finished:
            if self.rounds > 5_000:
                raise Endless
            for i in [i for i in self.coming if self.arrival[i] <= self.time]:
                self.coming.remove(i)
                self.waiting.append(i)
            self.extra, self.alarm = 0.0, math.inf
            decide(self)
            if self.running:
                self._run_a_round()
            else:
                self._idle()
        return self.started, self.finished, self.losses

    def _idle(self):
        self.rounds += 1
        if self.step is None:
            self.time += 1
        else:
            self.time = min([self.alarm, *(self.arrival[i] for i in self.coming)])

    def _run_a_round(self):
        prefilled = sum(self.holds(i) for i in self.running if self.prefills[i])
        decoding = [i for i in self.running if not self.prefills[i]]
        if self.step is None:
            self.time += 1
        else:
            c0, c1, n0, c2, c3 = self.step
            over = max(0, prefilled + len(decoding) - n0)
            read = sum(self.holds(i) for i in decoding)
            self.time += c0 + c1 * over + c2 * read + c3 * len(decoding) + self.extra
        self.rounds += 1
        for i in self.running:
            self.gen[i] += 1
            self.prefills[i] = False
        assert sum(self.holds(i) for i in self.running + self.paused) <= self.memory
        for i in [i for i in self.running if self.gen[i] == self.output[i]]:
            self.running.remove(i)
            self.finished[i] = self.time
