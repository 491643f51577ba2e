"""Sarathi-Serve: chunked prefill beside the requests that decode."""

from engine.policies.vllm import whole_blocks
from engine.policy import policy
from engine.policy_parameters import BLOCK, MAX_NUM_SEQS, WATERMARK, Param
from engine.simulate.chunked import chunked
from engine.simulate.preempting import NEWEST, Admission, admission_limit

CHUNK = Param(
    "chunk_size", 512, 1, 10**6, "Tokens a round may prefill and decode; decoding goes first."
)


@policy(
    key="sarathi",
    title="Sarathi-Serve",
    rule="Like vLLM, with a budget of tokens a round: decoding requests take one each, prompts "
    "share the rest in chunks.",
    source="arXiv 2403.02310",
    group="deployed",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(CHUNK, WATERMARK, MAX_NUM_SEQS, BLOCK),
    cost=lambda n: 3e-6 * n,
    usable=whole_blocks,
)
def simulate(workload, memory, clock, progress, chunk_size, watermark, max_num_seqs, block_size):
    usable = memory // block_size * block_size
    limit = admission_limit(usable, watermark)
    rule = Admission(limit, max_num_seqs, chunk_size, block_size, NEWEST, False, 0.0)
    return chunked(workload, memory, rule, clock, progress)
