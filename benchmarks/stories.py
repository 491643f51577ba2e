"""Every sentence of random stories, checked by a program that knows only the run and the rule.

    python -m benchmarks.stories [--runs 200] [--seed 0] [--policy KEY ...]

Random small runs of every policy on both clocks, in open and closed loops, with clients who give
up or are turned away, wrong predictions, any parameters, replicas and pools. Of each run the
stories of all requests are told, and each claim is held against a plain twin of the policy that
walks every round (tests/twins/story_checker.py). The table is in docs/results.md.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from dataclasses import replace

import numpy as np

from engine import POLICIES, Choice, Deployment, InputError, Run, Workload
from engine.admission_limits import AdmissionLimits
from engine.errors import Livelock
from engine.fleet import Topology
from engine.machine.clock import ROUNDS, Clock, seconds_clock
from tests.twins.story_checker import check_story, witness_of

IN_POOLS = ("vllm", "fcfs", "svf", "orca")  # whose twins take requests in any order of arrival
NARROW = {  # ranges in which small runs meet the parameter
    "max_num_seqs": (1, 6), "block_size": (1, 5), "max_num_batched_tokens": (0, 30),
    "chunk_size": (1, 30), "skip": (0, 3), "quantum": (1, 5), "starved": (1, 12),
    "threshold": (0, 4), "max_wait": (0.0, 12.0), "segments": (1, 5), "group": (1, 5),
    "max_output": (0, 30), "ageing": (0.0, 2.0), "transfer": (0.0, 0.25), "grids": (1, 1),
    "seconds": (0.1, 0.1), "beta": (0.1, 1.0), "seed": (0, 9),
}  # fmt: skip


def sixty_fourths(random: np.random.Generator, low: float, high: float) -> float:
    """A multiple of 1/64, whose sums are exact: a tie in the run is a tie in the twin."""
    return int(random.integers(round(low * 64), round(high * 64) + 1)) / 64


def drawn_lengths(random: np.random.Generator, memory: int, n: int) -> tuple[np.ndarray, ...]:
    """Any prompts and outputs, or short prompts and outputs that outgrow what is planned."""
    outgrows = random.random() < 0.4
    longest = max(2, memory // 6 if outgrows else memory // 2)
    prompt = random.integers(1, longest, n)
    least = memory // 3 if outgrows else 1
    output = random.integers(least, max(least + 1, int(memory * 0.6)), n)
    return prompt, np.minimum(output, memory - prompt)


def drawn_workload(random: np.random.Generator, memory: int, whole: bool) -> Workload:
    """Up to ten requests in order of arrival, most of which have to wait."""
    n = int(random.integers(2, 11))
    prompt, output = drawn_lengths(random, memory, n)
    arrival = np.zeros(n)
    if random.random() < 0.7:
        span = float(random.choice([n / 2, 2 * n, 4 * n]))
        arrival = np.sort([sixty_fourths(random, 0, span) for _ in range(n)])
        arrival = np.floor(arrival) if whole else arrival
    columns: dict = {"priority": random.integers(-2, 3, n)}
    if random.random() < 0.4:
        columns["class_of"], columns["classes"] = random.integers(0, 2, n), ("a", "b")
    if random.random() < 0.5:
        lo = random.integers(1, memory // 2, n)
        columns["predicted_lo"], columns["predicted_hi"] = lo, lo + random.integers(0, 9, n)
    return Workload(arrival, prompt, output, **columns)


def on_terms(random: np.random.Generator, workload: Workload) -> Workload:
    """An open loop, a closed one, or clients who give up or are turned away."""
    terms = random.random()
    if terms < 0.5:
        return workload
    if terms < 0.7:
        at_once = int(random.integers(1, 5))
        return replace(workload, arrival=np.zeros(len(workload)), concurrency=at_once)
    patience = float(random.choice([0.0, sixty_fourths(random, 0.5, 12)]))
    limits = AdmissionLimits(patience, int(random.integers(0, 5)))
    return replace(workload, admission_limits=limits)


def drawn_clock(random: np.random.Generator) -> Clock:
    """Rounds, or seconds in sixty-fourths."""
    if random.random() < 0.5:
        return ROUNDS
    c = [sixty_fourths(random, 0, 1) for _ in range(3)]
    return seconds_clock(sixty_fourths(random, 1 / 64, 1), c[0], float(random.integers(20)), *c[1:])


def drawn_choice(random: np.random.Generator, key: str) -> Choice:
    """The policy with some of its parameters changed."""
    values: dict = {}
    for param in POLICIES[key].params:
        low, high = NARROW.get(param.name, (param.low, min(param.high, 0.6)))
        if param.name in ("victim", "swap", "chunked_prefill"):
            low, high = param.low, param.high
        if random.random() < 0.5 or param.name == "seconds":
            whole = param.is_whole
            draw = random.integers(low, high + 1) if whole else sixty_fourths(random, low, high)
            values[param.name] = max(int(draw) if whole else draw, low)
    if values.get("chunked_prefill"):
        values["swap"] = 0
        values["max_num_batched_tokens"] = int(random.integers(1, 31))
    return Choice.of(key, values)


def drawn_run(random: np.random.Generator, key: str) -> tuple[Run, ...]:
    """The single servers of a random run; none where its options leave nothing that can run."""
    memory = int(random.integers(6, 61))
    workload = drawn_workload(random, memory, bool(random.random() < 0.3))
    topology, many = Topology(), random.random()
    if many < 0.1:
        topology = Topology(replicas=2)
    elif many < 0.2 and key in IN_POOLS:
        topology = Topology(pools=(1, 1), transfer=1 / 64)
    workload = workload if many < 0.2 else on_terms(random, workload)
    try:
        choice = drawn_choice(random, key)
        return Deployment(memory, drawn_clock(random), topology).run(choice, workload).parts
    except (InputError, Livelock):
        return ()


def check_policy(key: str, runs: int, seed: int) -> Counter:
    """Tell and check; the first false claim of a run is printed and ends that run."""
    told: Counter = Counter()
    for number in range(runs):
        random = np.random.default_rng([seed, number, *key.encode()])
        for run in drawn_run(random, key):
            told["runs"] += 1
            try:
                witness = witness_of(run)
                for i in range(len(run.workload)):
                    told += check_story(run, witness, i)
                    told["waits"] += int(run.start[i] > run.seen[i])
                    told["losses"] += int(run.preemptions[i])
            except AssertionError:
                told["false"] += 1
                print(f"{key}, run {number} of seed {seed}:", file=sys.stderr)
                traceback.print_exc()
    return told


def main() -> None:
    """One row a policy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policy", action="append", choices=list(POLICIES))
    arguments = parser.parse_args()
    columns = ("runs", "waits", "losses", "sentences", "false")
    print("| policy | runs | waits | losses of KV cache | sentences | false |")
    print("|---|---|---|---|---|---|")
    total: Counter = Counter()
    for key in arguments.policy or POLICIES:
        told = check_policy(key, arguments.runs, arguments.seed)
        total += told
        print(f"| {key} | {' | '.join(f'{told[name]:,}' for name in columns)} |", flush=True)
    print(f"| all | {' | '.join(f'{total[name]:,}' for name in columns)} |")
    reasons = {name: count for name, count in total.items() if name.startswith("Reason: ")}
    print("\n" + "\n".join(f"{name}: {count:,}" for name, count in sorted(reasons.items())))


if __name__ == "__main__":
    main()
