"""vLLM: first come first served on present use, preempting the newest."""

from engine.decisions.batching import in_chunks, on_use, whole_prompts
from engine.errors import InputError
from engine.policy import policy
from engine.policy_parameters import BLOCK, MAX_NUM_SEQS, NO_WATERMARK, TRANSFER, Param
from engine.simulate.chunked import chunked
from engine.simulate.preempting import Admission, admission_limit, preempting
from engine.simulate.timetable import NEVER

MAX_TOKENS = Param(
    "max_num_batched_tokens", 0, 0, 10**9, "Tokens a round may prefill and decode; 0: no limit."
)
CHUNKED = Param("chunked_prefill", 0, 0, 1, "1: prompts are cut to fit a round's tokens.")
VICTIM = Param(
    "victim", 0, 0, 2, "Who is preempted: 0 the newest, 1 the largest, 2 the least advanced."
)
SWAP = Param("swap", 0, 0, 1, "1: KV cache is moved to host memory and back instead of dropped.")


def whole_blocks(memory: int, params) -> int:
    """What of M is in whole blocks; InputError where M does not hold one."""
    block = params["block_size"]
    if block > memory:
        raise InputError(f"block_size {block:,} is larger than M = {memory:,} tokens: lower it")
    return memory // block * block


def admission(memory, options):
    """The rule with these options."""
    return Admission(
        limit=admission_limit(whole_blocks(memory, options), options["watermark"]),
        max_num_seqs=options["max_num_seqs"],
        max_tokens=options["max_num_batched_tokens"] or NEVER,
        block=options["block_size"],
        victim=options["victim"],
        swap=bool(options["swap"]),
        transfer=options["transfer"],
    )


def account(decision):
    """On present use, prompts whole or in chunks."""
    rule = admission(decision.memory, decision.params)
    whole = not decision.params["chunked_prefill"]
    return on_use(decision, rule, whole_prompts if whole else in_chunks)


@policy(
    key="vllm",
    title="vLLM",
    rule="Admits in order of arrival while present use fits; when memory runs out, drops the "
    "KV cache of the newest request, which later prefills its prompt and tokens again.",
    source="vLLM v1 scheduler",
    group="deployed",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(NO_WATERMARK, MAX_NUM_SEQS, MAX_TOKENS, CHUNKED, VICTIM, SWAP, TRANSFER, BLOCK),
    cost=lambda n: 5e-7 * n,
    usable=whole_blocks,
    account=account,
    swaps=lambda params: bool(params["swap"]),
)
def simulate(workload, memory, clock, progress, **options):
    if options["chunked_prefill"] and options["swap"]:
        raise InputError("vllm.swap and vllm.chunked_prefill cannot both be 1: set one to 0")
    if options["chunked_prefill"] and not options["max_num_batched_tokens"]:
        raise InputError(
            "vllm.chunked_prefill needs a round's tokens: set vllm.max_num_batched_tokens above 0"
        )
    serve = chunked if options["chunked_prefill"] else preempting
    return serve(workload, memory, admission(memory, options), clock, progress)
