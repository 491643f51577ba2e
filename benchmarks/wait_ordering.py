"""vLLM, Sarathi-Serve and WAIT near the limit, beside the figures of the WAIT paper.

    python -m benchmarks.wait_ordering

The paper (arXiv 2504.11320, section 6) runs requests of 512 prompt and 20 output tokens through
Vidur's Llama-2-7B on an A100 with room for about 137,000 tokens, and gives the last stable rate
and mean latencies. Here the same requests meet this project's preset of that machine, in ten
draws of 4,000 requests:

    policy    stable to   mean below 1.5 s to   mean at 22/s   at 23/s   published: stable, 22, 23
    vllm      23.75/s     20.75/s               2.35 s         4.33 s    19/s  18.23 s  26.78 s
    sarathi   23.75/s     21.5/s                1.86 s         4.30 s    22/s   1.85 s   5.08 s
    wait      23.75/s     21.75/s               1.77 s         2.72 s    23/s   1.03 s   1.29 s

The order is the paper's wherever latency is asked about. The last stable rate itself is the same
for all three: 512 prompt tokens cost c1 each whatever else is in their round, so prompts alone
fill the machine at 28 a second, and everybody who leaves no round idle comes as near to it. In
Vidur, vLLM's rounds either prefill or decode, and the time in which it only prefills is lost to
those that decode; the vLLM of this project, like its present scheduler, mixes both.
"""

from __future__ import annotations

import numpy as np

from engine import Run, Workload, find_policy
from engine.machine.hardware import find_preset
from engine.measure.overload import verdict
from engine.policy_parameters import WATERMARK

PROMPT, OUTPUT, MEMORY = 512, 20, 137_000
REQUESTS, SEEDS = 4_000, range(10)
MIDDLE = slice(REQUESTS // 4, 3 * REQUESTS // 4)  # the paper's central window
RATES = np.arange(18.0, 27.0, 0.25)
POLICIES = {"vllm": {"watermark": WATERMARK.default}, "sarathi": {}, "wait": {}}
PUBLISHED = {  # the last stable rate, and seconds of latency at 22 and 23 a second
    "vllm": (19, 18.23, 26.78),
    "sarathi": (22, 1.85, 5.08),
    "wait": (23, 1.03, 1.29),
}
SLOW = 1.5  # seconds: about twice the mean latency of all three at 18 a second


def poisson(rate: float, seed: int) -> Workload:
    """So many requests of the paper's one kind."""
    gaps = -np.log1p(-np.random.Generator(np.random.PCG64(seed)).random(REQUESTS)) / rate
    return Workload(np.cumsum(gaps), np.full(REQUESTS, PROMPT), np.full(REQUESTS, OUTPUT))


def runs_at(key: str, rate: float) -> list[Run]:
    """One run a seed."""
    clock, params = find_preset("llama-2-7b-a100").clock, POLICIES[key]
    return [
        find_policy(key).run(poisson(rate, seed), MEMORY, clock=clock, **params) for seed in SEEDS
    ]


def mean_latency(runs: list[Run]) -> float:
    return float(np.mean([run.latency[MIDDLE].mean() for run in runs]))


def keep_up(runs: list[Run]) -> bool:
    """Whether the verdict on most of them is not overloaded."""
    return sum(verdict(run).keeps_up for run in runs) > len(runs) / 2


def last(rates, answers) -> float:
    """The last rate before the first `no`."""
    return float(max(rate for rate, yes in zip(rates, np.cumprod(answers), strict=True) if yes))


def main() -> None:
    ours = ["policy", "stable to", f"mean below {SLOW} s to", "mean at 22/s", "at 23/s"]
    theirs = ["published: stable to", "mean at 22/s", "at 23/s"]
    print(f"| {' | '.join([*ours, *theirs])} |")
    print(f"|{8 * '---|'}")
    for key, (rate, at_22, at_23) in PUBLISHED.items():
        found = {float(r): runs_at(key, r) for r in RATES}
        stable = last(RATES, [keep_up(runs) for runs in found.values()])
        quick = last(RATES, [mean_latency(runs) <= SLOW for runs in found.values()])
        ours = f"{stable:g}/s | {quick:g}/s | " + " | ".join(
            f"{mean_latency(found[r]):.2f} s" for r in (22.0, 23.0)
        )
        print(f"| {key} | {ours} | {rate}/s | {at_22} s | {at_23} s |", flush=True)


if __name__ == "__main__":
    main()
