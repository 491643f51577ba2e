"""What a server says of itself, in its metrics or its log: its KV cache, its load, its settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from engine.traces.metrics_text import Metrics

BLOCK = 16  # tokens, where a log does not say it


@dataclass(eq=False)
class ServerFacts:
    """What is known of a server; None where it does not say.

    Attributes
    ----------
    cache : tokens that its KV cache holds, of each engine
    assumed : what of that was not said
    preemptions : how often a request lost its cache
    use : share of the cache that was used at most
    running, waiting : requests at most
    hit_rate : share of prompt tokens that the prefix cache had
    settings : of its configuration, by name
    more : further sentences
    """

    cache: list[int] = field(default_factory=list)
    assumed: str = ""
    preemptions: int | None = None
    use: float | None = None
    running: int | None = None
    waiting: int | None = None
    hit_rate: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    more: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """For people, the memory first."""
        if self.cache:
            least, engines = min(self.cache), len(self.cache)
            which = "each" if len(set(self.cache)) == 1 else "the smallest"
            several = f" in {which} of {engines} engines" if engines > 1 else ""
            yield f"its KV cache is {least:,} tokens{several}{self.assumed}: --memory {least}"
        if self.preemptions is not None:
            yield f"{self.preemptions:,} preemptions"
        if self.use is not None:
            yield f"{100 * self.use:.3g} % of the KV cache in use"
        if self.running is not None or self.waiting is not None:
            counts = (("running", self.running), ("waiting", self.waiting))
            yield " and ".join(f"{count:,} {name}" for name, count in counts if count is not None)
        if self.hit_rate is not None:
            yield f"{100 * self.hit_rate:.3g} % of the prompt tokens were in the prefix cache"
        if self.settings:
            yield "set: " + ", ".join(f"{name} {value}" for name, value in self.settings.items())
        yield from self.more


SETTINGS = (
    "max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_size",
    "enable_prefix_caching", "gpu_memory_utilization", "cache_dtype", "kv_cache_dtype",
    "chunked_prefill_size", "max_prefill_tokens", "max_running_requests", "context_len",
    "tensor_parallel_size", "mem_fraction_static", "max_batch_size", "max_num_tokens",
)  # fmt: skip
SETTING = re.compile(rf"\b({'|'.join(SETTINGS)})['\"]?\s*[=:]\s*['\"]?([\w.]+)")
CACHE_CONFIG = ("vllm:cache_config_info",)


def facts_of_metrics(metrics: Metrics) -> ServerFacts:
    """What vLLM, SGLang, TGI and llama.cpp say on /metrics."""
    facts = ServerFacts()
    for labels, _ in metrics.of(*CACHE_CONFIG):
        blocks, size = labels.get("num_gpu_blocks", ""), labels.get("block_size", "")
        if blocks.isdigit() and size.isdigit() and int(blocks):
            facts.cache.append(int(blocks) * int(size))
        facts.settings |= {
            name: labels[name] for name in SETTINGS if labels.get(name) not in (None, "", "None")
        }
    most = ("sglang:max_total_num_tokens", "trtllm:kv_cache_max_tokens")
    facts.cache += [int(value) for _, value in metrics.of(*most) if value > 0]
    facts.preemptions = _whole(
        metrics.total("vllm:num_preemptions_total", "vllm:num_preemptions",
                      "sglang:num_retractions_total", "sglang:num_retracted_reqs")
    )  # fmt: skip
    facts.use = metrics.largest(
        "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
        "llamacpp:kv_cache_usage_ratio", "trtllm_kv_cache_utilization",
    )  # fmt: skip
    facts.running = _whole(
        metrics.total("vllm:num_requests_running", "sglang:num_running_reqs",
                      "llamacpp:requests_processing", "tgi_batch_current_size")
    )  # fmt: skip
    facts.waiting = _whole(
        metrics.total("vllm:num_requests_waiting", "sglang:num_queue_reqs",
                      "llamacpp:requests_deferred", "tgi_queue_size")
    )  # fmt: skip
    facts.hit_rate = _hit_rate(metrics)
    facts.more = list(_more(metrics))
    return facts


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _hit_rate(metrics: Metrics) -> float | None:
    for cache in ("vllm:prefix_cache", "vllm:gpu_prefix_cache"):
        asked, hit = metrics.total(f"{cache}_queries_total"), metrics.total(f"{cache}_hits_total")
        if asked and hit is not None:
            return hit / asked
    return metrics.largest("sglang:cache_hit_rate")


def _more(metrics: Metrics) -> Iterator[str]:
    reasons: dict[str, float] = {}
    for labels, value in metrics.of("vllm:request_success_total", "vllm:request_success"):
        reason = labels.get("finished_reason", "unknown")
        reasons[reason] = reasons.get(reason, 0) + value
    if any(reasons.values()):
        ends = ", ".join(f"{value:,.0f} by {name}" for name, value in reasons.items() if value)
        yield f"requests that ended: {ends}"
    for prefix in ("vllm:", "sglang:"):
        for title, names in (
            ("TTFT", ("time_to_first_token_seconds",)),
            ("latency", ("e2e_request_latency_seconds",)),
            ("time in the queue", ("request_queue_time_seconds", "queue_time_seconds")),
        ):
            mean = metrics.mean(*(prefix + name for name in names))
            if mean is not None:
                yield f"mean {title} {mean:.3g} s"


NUMBER = r"([\d,]+)"
CACHES = (
    rf"(?:GPU )?KV cache size: {NUMBER} tokens",
    rf"max_total_num_tokens\s*[=:]\s*{NUMBER}",
    rf"Max tokens in paged KV cache: {NUMBER}",
    rf"Setting max batch total tokens to {NUMBER}",
    rf"KV Cache is allocated.*#tokens: {NUMBER}",
    rf"n_ctx\s*[=:]\s*{NUMBER}\b",
)
BLOCKS = rf"#? ?(?:GPU|cuda|CUDA) blocks: {NUMBER}"
PREEMPTED = r"is preempted by|[Pp]reempted request|Retract requests|Retracting request"
RUNNING = r"Running: (\d+) reqs|#running-req: (\d+)"
WAITING = r"(?:Waiting|Pending): (\d+) reqs|#queue-req: (\d+)"
USE = r"KV cache usage: ([\d.]+)\s*%|token usage: ([\d.]+)"
HITS = r"[Pp]refix cache hit rate:?\s*(?:GPU: )?([\d.]+)\s*%"
CONCURRENCY = r"Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x"
SIGNS = re.compile("|".join((
    *CACHES, BLOCKS, RUNNING, WAITING, USE, CONCURRENCY, "vLLM API server version",
    r"Initializing (?:a V\d|an) LLM engine", r"llama_(?:context|kv_cache)",
)))  # fmt: skip


def facts_of_log(lines: Iterable[str]) -> ServerFacts:
    """What vLLM, SGLang, TensorRT-LLM, TGI and llama.cpp say in the lines that they log."""
    facts, shared = ServerFacts(), ""
    blocks: list[int] = []
    for line in lines:
        read = partial(_numbers, line=line)
        facts.cache += [int(value) for pattern in CACHES for value in read(pattern)]
        blocks += [int(value) for value in read(BLOCKS)]
        if re.search(PREEMPTED, line):
            facts.preemptions = (facts.preemptions or 0) + 1
        facts.running = _most(facts.running, map(int, read(RUNNING)))
        facts.waiting = _most(facts.waiting, map(int, read(WAITING)))
        for percent, share_of_one in re.findall(USE, line):
            share = float(percent) / 100 if percent else float(share_of_one)
            facts.use = max(share, facts.use or 0.0)
        for value in read(HITS):
            facts.hit_rate = float(value) / 100
        if match := re.search(CONCURRENCY, line):
            shared = f"that is {match[2]} requests of {match[1]} tokens at once"
        facts.settings |= dict(SETTING.findall(line))
    if blocks and not facts.cache:
        size = facts.settings.get("block_size", "")
        facts.assumed = "" if size.isdigit() else f" if a block is {BLOCK} tokens"
        facts.cache = [
            count * (int(size) if size.isdigit() else BLOCK) for count in blocks if count
        ]
    facts.more += [shared] if shared else []
    return facts


def _numbers(pattern: str, line: str) -> list[str]:
    """What a pattern finds in a line, without separators."""
    matches = (match.groups() for match in re.finditer(pattern, line))
    numbers = (next((group for group in groups if group), "") for groups in matches)
    return [value.replace(",", "") for value in numbers if value.strip(",")]


def _most(so_far: int | None, values: Iterable[int]) -> int | None:
    return max([*values, *([] if so_far is None else [so_far])], default=None)
