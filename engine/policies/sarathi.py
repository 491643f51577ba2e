"""Sarathi-Serve: chunked prefill beside the requests that decode."""

from engine.decisions.batching import in_chunks, on_use
from engine.policies.vllm import whole_blocks
from engine.policy import policy
from engine.policy_parameters import BLOCK, MAX_NUM_SEQS, WATERMARK, Param
from engine.simulate.chunked import chunked
from engine.simulate.preempting import NEWEST, Admission, admission_limit

CHUNK = Param(
    "chunk_size", 512, 1, 10**6, "Tokens a round may prefill and decode; decoding goes first."
)


def _admission(memory, options):
    limit = admission_limit(whole_blocks(memory, options), options["watermark"])
    sequences, budget = options["max_num_seqs"], options["chunk_size"]
    return Admission(limit, sequences, budget, options["block_size"], NEWEST, False, 0.0)


def account(decision):
    """On present use, prompts in chunks."""
    return on_use(decision, _admission(decision.memory, decision.params), in_chunks)


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
    account=account,
)
def simulate(workload, memory, clock, progress, **options):
    return chunked(workload, memory, _admission(memory, options), clock, progress)
