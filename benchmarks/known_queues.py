"""A hundred queues whose largest rate is known, asked of `capacity`.

    python -m benchmarks.known_queues [QUEUES] [REQUESTS] [SEED]

Five kinds in turn, with parameters at random (seed 14, or the one given), each with one answer by
arithmetic:

    M/D/1        one request at a time, all of o tokens in rounds of c0 seconds: 1 / (c0 o)
    M/G/1        the same, o by a law: 1 / (c0 E[o])
    exclusive    in rounds, each request holds more than half of M: 1 / E[o]
    sequences    in rounds, at most k requests at once and memory for all: k / E[o]
    compute      every token takes c1 seconds, whatever runs beside it in a memory of 30,000 to
                 10,000,000 tokens: 1 / (c1 E[s + o - 1])

Each is asked with four seeds of 2,000 Poisson requests. Counted are the reported intervals that
hold the answer, those that end more than 2 % above it, and rates above it. Then the load of two to
four servers is asked for: a run of 100,000 requests each shows whether the number that is advised
carries it, and whether one fewer does, or what the answer says of it. docs/results.md has what
came out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine import ROUNDS, Choice, Deployment, Scenario, Topology
from engine.capacity.draws import Draws
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.capacity.servers import fewest_servers
from engine.demand.request_class import RequestClass, classes
from engine.machine.clock import Clock, seconds_clock
from engine.measure.overload import OVERLOADED, verdict

SEED, QUEUES, REQUESTS = 14, 100, 100_000
SEEDS, DRAWN = 4, 2_000
PLENTY = 10**7  # tokens
EXACTLY = 2_000_000  # probabilities at which a law is averaged
ABOVE = 0.02
KEY = "known"


@dataclass(frozen=True)
class KnownQueue:
    """A question with its answer, requests in a clock unit."""

    kind: str
    choice: Choice
    memory: int
    clock: Clock
    lengths: RequestClass
    answer: float


def law(rng, low: int, high: int) -> dict:
    """Quantiles of whole tokens between two ends."""
    inner = np.sort(rng.integers(low, high, 2))
    return {
        "law": "quantiles",
        "levels": [0, 0.5, 0.9, 1],
        "values": [int(v) for v in (low, *inner, high)],
    }


def fixed(tokens: int) -> dict:
    return {"law": "quantiles", "levels": [0, 1], "values": [tokens, tokens]}


def a_class(prompt: dict, output: dict) -> RequestClass:
    return RequestClass(KEY, "", "", "", "", "", prompt, output)


def mean_output(lengths: RequestClass) -> float:
    """Of all that the law gives."""
    uniform = (np.arange(EXACTLY) + 0.5) / EXACTLY
    return float(lengths.lengths(np.full(EXACTLY, 0.5), uniform)[1].mean())


def alone_of_equal(rng) -> KnownQueue:
    c0, tokens = float(rng.uniform(0.01, 1)), int(rng.integers(5, 200))
    lengths = a_class(fixed(int(rng.integers(1, 500))), fixed(tokens))
    choice = Choice.of("vllm", {"max_num_seqs": 1})
    return KnownQueue("M/D/1", choice, PLENTY, seconds_clock(c0), lengths, 1 / (c0 * tokens))


def alone_of_all_lengths(rng) -> KnownQueue:
    c0 = float(rng.uniform(0.01, 1))
    lengths = a_class(fixed(int(rng.integers(1, 500))), law(rng, 1, int(rng.integers(50, 2000))))
    choice = Choice.of("vllm", {"max_num_seqs": 1})
    rate = 1 / (c0 * mean_output(lengths))
    return KnownQueue("M/G/1", choice, PLENTY, seconds_clock(c0), lengths, rate)


def exclusive(rng) -> KnownQueue:
    memory, longest = int(rng.integers(100, 2000)), int(rng.integers(2, 40))
    prompt = int(rng.integers(memory // 2 + 1, memory - longest))
    lengths = a_class(fixed(prompt), law(rng, 1, longest))
    choice = Choice(str(rng.choice(["fcfs", "mc-sf", "svf", "vllm"])))
    return KnownQueue("exclusive", choice, memory, ROUNDS, lengths, 1 / mean_output(lengths))


def few_sequences(rng) -> KnownQueue:
    places = int(rng.integers(2, 17))
    lengths = a_class(law(rng, 1, 300), law(rng, 1, int(rng.integers(20, 400))))
    choice = Choice.of("vllm", {"max_num_seqs": places})
    rate = places / mean_output(lengths)
    return KnownQueue("sequences", choice, PLENTY, ROUNDS, lengths, rate)


def slow_tokens(rng) -> KnownQueue:
    c1, prompt = float(rng.uniform(1e-4, 1e-2)), int(rng.integers(1, 2000))
    lengths = a_class(fixed(prompt), law(rng, 1, int(rng.integers(20, 400))))
    choice = Choice(str(rng.choice(["fcfs", "svf", "vllm"])))
    memory = int(10 ** rng.uniform(4.5, 7))
    rate = 1 / (c1 * (prompt + mean_output(lengths) - 1))
    return KnownQueue("compute", choice, memory, seconds_clock(0.0, c1), lengths, rate)


KINDS: tuple[Callable[..., KnownQueue], ...] = (
    alone_of_equal,
    alone_of_all_lengths,
    exclusive,
    few_sequences,
    slow_tokens,
)


def known_queues(how_many: int = QUEUES, seed: int = SEED) -> list[KnownQueue]:
    """So many, the kinds in turn."""
    rng = np.random.default_rng(seed)
    return [KINDS[number % len(KINDS)](rng) for number in range(how_many)]


def question(queue: KnownQueue) -> Question:
    """What is asked of one server; the present rate is a third of the answer."""
    classes()[KEY] = queue.lengths
    source = Scenario(mix={KEY: 1}, n=DRAWN, arrivals="poisson", rate=queue.answer / 3)
    return Question(Draws(source, SEEDS), Deployment(queue.memory, queue.clock))


def asked(queue: KnownQueue, times: float, requests: int) -> dict[str, bool | str | float]:
    """What `capacity` says of a queue and of a load of so many times its limit, and what is so."""
    ask = question(queue)
    found = largest_rate(queue.choice, ask)
    assert found.rate is not None
    assert found.interval is not None
    low, high = found.interval
    load = times * queue.answer
    servers = fewest_servers(found, ask, load)
    assert servers.count is not None

    def grows(count: int) -> bool:
        fleet = Deployment(queue.memory, queue.clock, Topology(count))
        draw = ask.draws.at(load, SEED, requests * count)
        return verdict(fleet.run(queue.choice, draw)).kind == OVERLOADED

    return {
        "rate": found.rate / queue.answer,
        "low": low / queue.answer,
        "high": high / queue.answer,
        "holds": low <= queue.answer * (1 + 1e-9) and queue.answer <= high * (1 + 1e-9),
        "carries": not grows(servers.count),
        "one fewer": servers.count == 1 or grows(servers.count - 1),
        "says": servers.one_fewer,
    }


def main(how_many: int = QUEUES, requests: int = REQUESTS, seed: int = SEED) -> None:
    rng = np.random.default_rng(seed + 1)
    counted: dict[str, Counter] = {}
    for queue in known_queues(how_many, seed):
        told = asked(queue, float(rng.uniform(1.2, 3.8)), requests)
        count = counted.setdefault(queue.kind, Counter())
        count["queues"] += 1
        count["interval holds"] += bool(told["holds"])
        count["interval ends > 2 % above"] += float(told["high"]) > 1 + ABOVE
        count["rate above"] += float(told["rate"]) > 1
        count["advised carry"] += bool(told["carries"])
        count["one fewer does not"] += bool(told["one fewer"])
        count["or it is said why"] += not told["one fewer"] and bool(told["says"])
        print(queue.kind, queue.choice.label, told, flush=True, file=sys.stderr)
    titles = list(next(iter(counted.values())))
    print("| kind |", " | ".join(titles), "|")
    total: Counter = sum(counted.values(), Counter())
    for kind, count in [*counted.items(), ("all", total)]:
        print(f"| {kind} |", " | ".join(str(count[title]) for title in titles), "|")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
