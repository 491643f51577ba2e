"""Drive the real vLLM one step at a time; runs inside vLLM's own environment.

    FOLDER/bin/python driver.py QUESTIONS ANSWERS

QUESTIONS is a JSON list of {"how", "settings", "cases"}; ANSWERS has the same with `engine` and
what was seen of every case: `first_token`, `finish`, `preemptions`, `cached_prompt_tokens`. It
imports vLLM and nothing of this project, so that nothing of ours has a say in what is recorded.

`how` is `engine`: the whole engine core, its executor and a tiny model with random weights, whose
attention kernels on the CPU want blocks of a multiple of 32 tokens; or `scheduler`: the engine's
scheduler, block pool and preemption alone, whose plans are answered with one token for every
request that has all its tokens computed, as a model would, so that blocks have any size. Both are
vLLM's own classes, unchanged; async scheduling is off.
"""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import torch
from vllm import SamplingParams
from vllm.engine.arg_utils import EngineArgs
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine.core import EngineCore
from vllm.v1.executor.abstract import Executor
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

VOCABULARY = 2048
TINY = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "vocab_size": VOCABULARY,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "float32",
}
OF_ITS_OWN = ("memory_tokens", "block_size")  # settings that are no options by these names
NULL = 1  # a block of the pool that holds nothing


def config_of(settings, folder, block_size):
    """vLLM's configuration for the tiny model."""
    config = {**TINY, "max_position_embeddings": settings["max_model_len"]}
    Path(folder, "config.json").write_text(json.dumps(config))
    return EngineArgs(
        model=str(folder),
        load_format="dummy",
        dtype="float32",
        skip_tokenizer_init=True,
        enforce_eager=True,
        gpu_memory_utilization=0.05,  # of the machine's memory, where there is no GPU
        block_size=block_size,
        num_gpu_blocks_override=settings["memory_tokens"] // settings["block_size"] + NULL,
        **{name: value for name, value in settings.items() if name not in OF_ITS_OWN},
    ).create_engine_config()


class WholeEngine:
    """The engine core with its model."""

    def __init__(self, settings, folder):
        config = config_of(settings, folder, settings["block_size"])
        self.core = EngineCore(config, Executor.get_class(config), log_stats=False)
        self.scheduler, self.hasher = self.core.scheduler, self.core.request_block_hasher
        self.planned, self._schedule = None, self.scheduler.schedule
        self.scheduler.schedule = self._kept

    def _kept(self, *arguments):
        self.planned = self._schedule(*arguments)
        return self.planned

    def step(self):
        """(what was planned, (request id, count of its new tokens) of those that got any)."""
        outputs, _ = self.core.step()
        return self.planned, new_tokens(outputs)

    def close(self):
        self.core.shutdown()


class SchedulerAlone:
    """The scheduler with nobody behind it."""

    def __init__(self, settings, folder):
        config = config_of(settings, folder, 32)
        size = config.cache_config.block_size = settings["block_size"]
        blocks = config.cache_config.num_gpu_blocks = settings["memory_tokens"] // size + NULL
        spec = FullAttentionSpec(block_size=size, num_kv_heads=1, head_size=32, dtype=torch.float32)
        self.scheduler = Scheduler(
            vllm_config=config,
            kv_cache_config=KVCacheConfig(blocks, [], [KVCacheGroupSpec(["layer"], spec)]),
            structured_output_manager=StructuredOutputManager(config),
            block_size=size,
        )
        self.hasher = None
        if settings["enable_prefix_caching"]:
            hashed_by = get_hash_fn_by_name(config.cache_config.prefix_caching_hash_algo)
            init_none_hash(hashed_by)
            self.hasher = get_request_block_hasher(size, hashed_by)

    def step(self):
        """As WholeEngine.step."""
        planned = self.scheduler.schedule()
        ids = list(planned.num_scheduled_tokens)
        answer = ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={name: place for place, name in enumerate(ids)},
            sampled_token_ids=[self._sample(name) for name in ids],
        )
        return planned, new_tokens(self.scheduler.update_from_output(planned, answer))

    def _sample(self, name):
        """A token of its own for a request with nothing left to compute, none in mid-prompt."""
        request = self.scheduler.requests[name]
        return [3] if request.num_computed_tokens == request.num_tokens else []

    def close(self):
        self.scheduler.shutdown()


def new_tokens(outputs):
    """(request id, count) of all clients."""
    return [
        (row.request_id, len(row.new_token_ids))
        for answer in outputs.values()
        for row in answer.outputs
    ]


def prompt_of(row, prompt, group, shared):
    """Token ids: those of one group begin alike, and nobody else has the rest.

    Its own number stands at the head of the part that differs, so that no further block is shared.
    """
    shared = min(shared, prompt)
    common = [10 + (7 * group + place) % 1000 for place in range(shared)]
    rest = [1024 + row % 1000] + [10 + (row * 31 + place) % 1000 for place in range(prompt)]
    return (common + rest)[:prompt]


def requests_of(case, engine):
    """Row by row; those that come at once have their order by a thousandth of a step."""
    made = []
    for row, (arrival, prompt, output, priority, group, shared) in enumerate(case["requests"]):
        sampling = SamplingParams(
            max_tokens=output, min_tokens=0, ignore_eos=True, temperature=0.0, detokenize=False
        )
        made.append(
            Request(
                request_id=f"{row:06d}",
                prompt_token_ids=prompt_of(row, prompt, group, shared),
                sampling_params=sampling,
                pooling_params=None,
                arrival_time=arrival + row / 1000,
                priority=priority,
                block_hasher=engine.hasher,
            )
        )
    return made


def watch(case, engine):
    """One case from an empty engine to an empty engine, and what was seen of it."""
    engine.scheduler.reset_prefix_cache()
    requests = requests_of(case, engine)
    n, at, coming = len(requests), 0, 0
    order = sorted(range(n), key=lambda row: (case["requests"][row][0], row))
    generated, first, finish, cached = [0] * n, [None] * n, [None] * n, [None] * n
    while None in finish:
        if coming < n and not engine.scheduler.has_unfinished_requests():
            at = max(at, case["requests"][order[coming]][0])
        while coming < n and case["requests"][order[coming]][0] <= at:
            engine.scheduler.add_request(requests[order[coming]])
            coming += 1
        planned, tokens = engine.step()
        at += 1
        for begun in planned.scheduled_new_reqs:
            row = int(begun.req_id)
            cached[row] = begun.num_computed_tokens if cached[row] is None else cached[row]
        for name, count in tokens:
            row = int(name)
            generated[row] += count
            if count and first[row] is None:
                first[row] = at
            if generated[row] == requests[row].max_tokens:
                finish[row] = at
    return {
        **case,
        "first_token": first,
        "finish": finish,
        "preemptions": [request.num_preemptions for request in requests],
        "cached_prompt_tokens": cached,
    }


def answer_to(question):
    """The question with what was seen of its cases."""
    kind = {"engine": WholeEngine, "scheduler": SchedulerAlone}[question["how"]]
    with tempfile.TemporaryDirectory() as folder:
        engine = kind(question["settings"], folder)
        cases = [watch(case, engine) for case in question["cases"]]
        engine.close()
    name = f"{question['package']} {version(question['package'])}"
    return {**question, "engine": name, "cases": cases}


def main(asked, answered):
    """Answer the questions of one file in another, as vLLM may print what it likes."""
    answers = [answer_to(question) for question in json.loads(Path(asked).read_text())]
    Path(answered).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
