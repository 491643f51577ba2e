"""A run written as vLLM's benchmark would have written it, had it measured that server."""

import numpy as np


def benchmark_result(run, jitter=0.0, seed=0, begun=1000.0):
    """The JSON of `vllm bench serve --save-detailed`, tokens late by up to `jitter` seconds."""
    workload, residencies = run.workload, run.residencies
    draw = np.random.default_rng(seed).random
    rounds = [[] for _ in range(len(workload))]
    for request, begin, end, grows in zip(
        residencies.request, residencies.begin, residencies.end, residencies.grows, strict=True
    ):
        if grows:
            rounds[request].extend(range(begin + 1, end + 1))
    came = [run.ends(np.array(sorted(mine))) + jitter * draw(len(mine)) for mine in rounds]
    return {
        "date": "20250101-120000",
        "backend": "vllm",
        "model_id": "a-model",
        "num_prompts": len(workload),
        "completed": len(workload),
        "total_input_tokens": int(workload.prompt.sum()),
        "request_throughput": 1.0,
        "input_lens": workload.prompt.tolist(),
        "output_lens": workload.output.tolist(),
        "ttfts": [at[0] - arrival for at, arrival in zip(came, workload.arrival, strict=True)],
        "itls": [np.diff(at).tolist() for at in came],
        "start_times": (begun + workload.arrival).tolist(),
        "errors": [""] * len(workload),
    }
