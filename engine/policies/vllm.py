"""vLLM: first come first served on present use, preempting the newest."""

import math

from engine.policy import Param, policy
from engine.simulate.preempting import preempting

WATERMARK = Param(
    "watermark", 0.0, 0.0, 0.9, "Share of M that admission leaves free (0.01 is vLLM's own value)."
)
MAX_NUM_SEQS = Param("max_num_seqs", 256, 1, 10**6, "How many requests may run at once.")


@policy(
    key="vllm",
    title="vLLM",
    rule="Admits in order of arrival while present use fits; when memory runs out, drops the "
    "KV cache of the newest request, which later prefills its prompt and tokens again.",
    source="vLLM v1 scheduler, without blocks and chunks",
    group="deployed",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(WATERMARK, MAX_NUM_SEQS),
    cost=lambda n: 5e-7 * n,
)
def simulate(workload, memory, progress, watermark, max_num_seqs):
    # The last factor keeps a product such as 100 * (1 - 0.9) from being floored to 9.
    limit = math.floor(memory * (1 - watermark) * (1 + 1e-12))
    return preempting(workload, memory, limit, max_num_seqs)
