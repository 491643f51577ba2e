"""TensorRT-LLM by default: nobody who has begun is evicted (GUARANTEED_NO_EVICT).

Who is admitted keeps blocks for its prompt and for as many tokens as it may generate. The rule is
read in its documents (capacity scheduler policy), the order of a round, those that generate
first and then prompts, whole, while the tokens last, in its Python scheduler
(tensorrt_llm/_torch/pyexecutor/scheduler.py, 1.x); the numbers are its defaults. The most that a
request may generate is taken to be the largest output of all, unless max_output says so.
"""

from engine.engines.engine import Engine

TRTLLM = Engine(
    "trtllm",
    block_size=32,
    max_num_seqs=2048,
    max_num_batched_tokens=8192,
    standing=-1,
    admission="reserve",
    title="TensorRT-LLM 1.x",
    source="tensorrt_llm/_torch/pyexecutor/scheduler.py, read; block counts reconstructed",
)
