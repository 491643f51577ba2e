"""vLLM as its API server runs it by default.

Rules and numbers: vLLM 0.32's v1 scheduler (vllm/v1/core/sched/scheduler.py), block pool and
defaults (vllm/engine/arg_utils.py). Its schedules of random requests are met to the step
(docs/engines.md). Its prefix cache, which is on by default, is not modelled yet.

The defaults depend on the GPU: 8,192 tokens a round and 1,024 sequences on those with 70 GiB and
more, the A100 excepted; else 2,048 and 256.
"""

from dataclasses import replace

from engine.engines.engine import Engine
from engine.machine.catalogue import Gpu

VLLM = Engine(
    "vllm",
    block_size=16,
    max_num_seqs=256,
    max_num_batched_tokens=2048,
    chunked_prefill=True,
    standing=-1,
    admission="present",
    title="vLLM 0.32",
    source="vllm/v1/core/sched/scheduler.py, read",
)
LARGE_GIB = 70


def on_gpu(gpu: Gpu) -> Engine:
    """With the defaults of this GPU."""
    if gpu.memory_gib >= LARGE_GIB and "a100" not in gpu.key:
        return replace(VLLM, max_num_seqs=1024, max_num_batched_tokens=8192)
    return VLLM
