"""Every quick policy on the Azure conversation trace at its real times, as a table for the README.

    python -m benchmarks.azure_table TRACE MEMORY SERVERS

Each server is Llama-2-70B on four A100s with M tokens, behind a router that takes turns; the
gap is to the best certified bound that covers the run.
"""

from __future__ import annotations

import sys

import numpy as np

from engine import Choice, Deployment, find_method, quick_policies, read_trace
from engine.bound import gap
from engine.fleet import Topology
from engine.machine.hardware import DEFAULT, find_preset
from engine.measure.overload import verdict
from engine.measure.times import tpot, ttft
from engine.wording import count, number
from engine.wording import gap as in_words


def main(path: str, memory: int, servers: int) -> None:
    workload, _ = read_trace(path)
    preset = find_preset(DEFAULT)
    print(f"M = {memory:,} tokens, {preset.title}, {servers} servers\n")
    bounds = [
        bound
        for key in ("srpt", "prices")
        for bound in find_method(key).bounds(workload, memory, clock=preset.clock, replicas=servers)
    ]
    print("| policy | P50 TTFT (s) | P99 TTFT (s) | mean TPOT (s) | preemptions | gap | load |")
    print("|---|---|---|---|---|---|---|")
    for key in quick_policies(len(workload), below=0.5):
        run = Deployment(memory, preset.clock, Topology(servers)).run(Choice(key), workload)
        half, most = np.percentile(ttft(run), [50, 99])
        cells = [key, number(half), number(most), number(np.nanmean(tpot(run)))]
        cells += [count(run.preemptions.sum()), in_words(gap(run, bounds)), verdict(run).kind]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
