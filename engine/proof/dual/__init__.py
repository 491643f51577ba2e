"""The dual function: any prices of memory give a lower bound, and tell where a run loses time.

Let lam[t] >= 0 be the price of a token of memory at the end of round t. A request
(a, s, o) started at k holds s + j tokens at the end of round k + j, j = 1 .. o, so
its latency and the price of its memory are together

    f(k) = k + o - a + sum_{j=1..o} (s + j) lam[k + j],

and with k0 = min ceil(a), the first decision of all, the dual function is

    L(lam) = sum_i min_{k >= ceil(a_i)} f_i(k)  -  M * sum_{t > k0} lam[t].

*Lower bound for runs that keep their KV cache.* The memory held at the end of
round t is at most M, and 0 for t <= k0. Thus sum_i f_i(start_i), the total latency
plus what all memory costs, is at most the total latency plus M * sum_{t > k0} lam[t],
and each f_i(start_i) is at least the minimum. Chunked prefill and pauses with the
cache kept change nothing: a request that completes at C has produced its j-th token
by round C - o + j and keeps s + j tokens from then on, so started at C - o without a
pause it would hold no more in any round and complete as early.

*Lower bound for every run, if lam never rises* (lam[t] >= lam[t+1] for t > k0). A
request that completes at C takes its final o tokens in o different rounds, the last of
them C, so the j-th is taken in a round r_j <= C - o + j. It may have been taken more
often, after a restart: r_j is the last time. At the end of that round the request
holds at least s + j tokens, whatever it dropped before, swapped or prefilled again,
and lam[r_j] >= lam[C - o + j]. So its memory costs at least as much as if it had
started at k = C - o and kept everything; and k >= ceil(a), as o different rounds
later than ceil(a) lie in (ceil(a), C]. The rest is the proof above. Where prices
rise, a run that gives up its cache can take its tokens in the cheap rounds, and L is
no bound for it.

*The gap splits.* Between a run's total latency and L lie exactly (`gap_split`)

    sum_i (f_i(C_i - o_i) - min f_i)      ordering: others should have gone first
  + sum_{t > k0} lam[t] (M - used[t])     idle memory at its price
  + what the memory held cost beyond f_i's charge: 0 unless cache was given up.

Source: the Lagrangian dual of the time-indexed LP (docs/model.md 3.2); max L is its optimum.
"""

from engine.proof.dual.function import Dual, evaluate, rounded_down
from engine.proof.dual.split import GapSplit, gap_split
from engine.proof.dual.units import check_rounds, convex_prices

__all__ = [
    "Dual",
    "GapSplit",
    "check_rounds",
    "convex_prices",
    "evaluate",
    "gap_split",
    "rounded_down",
]
