"""How fast the kernels of several checkouts are, timed in turn within one run.

    python -m benchmarks.before_and_after CHECKOUT [CHECKOUT ..] [--turns 3] [--output FILE.json]

Whole runs of a million requests at M = 131,072, validation and results included, warm, in
processor seconds, so that others on the machine count little. Each turn is a process of its own
for each checkout, one after another; within it a case is timed seven times in turn with
numpy.argsort of a million floats. Told is the least of all times of a case over the least of the
argsort's, by checkout, and what the first checkout's ratio becomes in the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

REQUESTS, MEMORY, TIMES = 1_000_000, 131_072, 7
CASES = (  # policy, clock
    ("fcfs", "rounds"),
    ("svf", "rounds"),
    ("vllm", "rounds"),
    ("svf", "seconds"),
    ("vllm", "seconds"),
    ("sarathi", "seconds"),
)
HARDWARE = "llama-2-70b-a100-tp4"
YARDSTICK = "argsort"


def main() -> None:
    arguments = _arguments()
    if arguments.here:
        print(json.dumps(least_times(arguments.requests, arguments.cases)))
        return
    places = [str(Path(checkout).resolve()) for checkout in arguments.checkouts]
    turns: dict[str, list[dict]] = {place: [] for place in places}
    for _ in range(arguments.turns):
        for place in places:
            turns[place].append(_in(place, arguments.requests, arguments.cases))
    least = {place: _least(times) for place, times in turns.items()}
    print("\n".join(_table(least)))
    if arguments.output:
        about = {"requests": arguments.requests, "memory": MEMORY, "turns": arguments.turns}
        ratios = {place: _ratios(times) for place, times in least.items()}
        told = {**about, "ratios": ratios, "seconds": least, "seconds_by_turn": turns}
        Path(arguments.output).write_text(json.dumps(told, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", default=["."], metavar="CHECKOUT")
    parser.add_argument("--turns", type=int, default=3, help="processes for each checkout (3)")
    parser.add_argument("--requests", type=int, default=REQUESTS, metavar="N")
    parser.add_argument("--cases", default="", metavar="TEXT", help="only those that hold it")
    parser.add_argument("--output", metavar="FILE.json", help="write every turn's times")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # one turn
    return parser.parse_args()


def _in(checkout: str, requests: int, cases: str) -> dict[str, float]:
    """One turn: the least times of a checkout's engine, in a process that imports that one."""
    command = [sys.executable, __file__, "--here", f"--requests={requests}", f"--cases={cases}"]
    surroundings = {**os.environ, "PYTHONPATH": checkout}
    done = subprocess.run(
        command, cwd=checkout, env=surroundings, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def least_times(requests: int, cases: str) -> dict[str, float]:
    """Processor seconds of each case and of the argsort, in the engine that is imported."""
    from engine import Scenario, generate
    from engine.machine.clock import ROUNDS
    from engine.machine.hardware import find_preset

    backlog = generate(Scenario(n=requests))
    clocks = {"rounds": ROUNDS, "seconds": find_preset(HARDWARE).clock}
    values = np.random.default_rng(0).random(1_000_000)
    found = {YARDSTICK: float("inf")}
    for key, unit in CASES:
        name = f"{key}, {unit}"
        if cases not in name:
            continue
        run = _runner(key, backlog, clocks[unit])
        found[name], sort = _in_turn(run, lambda: np.argsort(values))
        found[YARDSTICK] = min(found[YARDSTICK], sort)
    return found


def _runner(key: str, backlog, clock) -> Callable:
    """What runs the policy in either engine: before there were deployments, policies ran."""
    try:
        from engine import Choice, Deployment
    except ImportError:
        from engine import find_policy

        policy = find_policy(key)
        return lambda: policy.run(backlog, MEMORY, clock=clock)
    return lambda: Deployment(MEMORY, clock).run(Choice(key), backlog)


def _in_turn(ours: Callable, reference: Callable) -> tuple[float, float]:
    """The least processor seconds of each, warm."""
    ours(), reference()
    times = [(_taken(ours), _taken(reference)) for _ in range(TIMES)]
    mine, theirs = zip(*times, strict=True)
    return min(mine), min(theirs)


def _taken(work: Callable) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _least(turns: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(times[name] for times in turns) for name in turns[0]}


def _ratios(times: dict[str, float]) -> dict[str, float]:
    return {name: each / times[YARDSTICK] for name, each in times.items() if name != YARDSTICK}


def _table(least: dict[str, dict[str, float]]) -> list[str]:
    """A line a case: of each checkout the ratio to the argsort, and to the first checkout."""
    ratios = {place: _ratios(times) for place, times in least.items()}
    first, *_ = ratios.values()
    lines = [f"{place}: argsort {1000 * least[place][YARDSTICK]:.3g} ms" for place in ratios]
    for name in first:
        each = [f"{of[name]:7.2f}x ({of[name] / first[name]:.3f})" for of in ratios.values()]
        lines.append(f"{name:18}" + "  ".join(each))
    return lines


if __name__ == "__main__":
    main()
