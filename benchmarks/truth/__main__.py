"""Real runs of vLLM on GPUs: fitted to half of the requests, met on the other half?

    python -m benchmarks.truth FOLDER

FOLDER holds runs as LLMServingSim keeps them, `run_*.jsonl` with `run_*.meta.json` (MIT licence;
they are not part of this project). The table is in docs/engines.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.truth.fit import fitted, simulated
from benchmarks.truth.measured import Measured, read_measured
from engine import Choice

WITHIN = 0.05
HEAD = "| run | fitted to | held against | requests | metric | measured | simulated | off |"


def halves(n: int) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Names and requests of what is fitted and of what is held against it."""
    order = np.arange(n)
    first, second, even, odd = order[: n // 2], order[n // 2 :], order[::2], order[1::2]
    return {
        ("first half", "second half"): (first, second),
        ("second half", "first half"): (second, first),
        ("even", "odd"): (even, odd),
        ("odd", "even"): (odd, even),
    }


def check(run: Measured) -> list[float]:
    """Print a row a metric and way to halve; returns how far each is off."""
    missed = []
    for (fitted_to, held), (known, unknown) in halves(len(run.sent)).items():
        clock = fitted(run, known)
        guess = simulated(run, clock)
        for metric, seen in run.times.items():
            theirs, ours = (float(np.nanmean(values[unknown])) for values in (seen, guess[metric]))
            missed.append(ours / theirs - 1)
            cells = [run.name, fitted_to, held, f"{len(unknown)}", metric]
            cells += [
                f"{theirs:.4g} s",
                f"{ours:.4g} s",
                f"{round(100 * missed[-1], 1) + 0:+.1f} %",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
        lost = run.deployment(clock).run(Choice.of("fcfs"), run.workload).preemptions.sum()
        values = ", ".join(f"{value:.4g}" for value in clock.step)
        print(f"{run.name}: {lost} preemptions; c0, c1, N0, c2, c3 = {values}", file=sys.stderr)
    return missed


def main(folder: str = "") -> int:
    """Exit code 0 where nothing is further off than 5 %, and where there is nothing to check."""
    paths = sorted(Path(folder).glob("run_*.jsonl")) if folder else []
    if not paths:
        print(f"SKIPPED: no measured runs in {folder or 'no folder'}", file=sys.stderr)
        return 0
    print(f"{HEAD}\n|{'---|' * HEAD.count(' | ')}---|")
    missed = [off for path in paths for off in check(read_measured(path))]
    within = sum(abs(off) <= WITHIN for off in missed)
    print(f"\n{within} of {len(missed)} within {100 * WITHIN:.0f} %")
    return int(within < len(missed))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2]))
