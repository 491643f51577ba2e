"""What a server says of itself: its metrics and its log."""

import numpy as np
import pytest

from engine import InputError
from tests.engine.traces.reading import read

METRICS = """# HELP vllm:request_prompt_tokens Number of prefill tokens processed.
# TYPE vllm:request_prompt_tokens histogram
vllm:request_prompt_tokens_bucket{le="10.0",engine="0"} 50.0
vllm:request_prompt_tokens_bucket{engine="0",le="20.0"} 100.0
vllm:request_prompt_tokens_bucket{le="+Inf",engine="0"} 100.0
vllm:request_prompt_tokens_sum{engine="0"} 900.0
vllm:request_generation_tokens_bucket{le="1.0",engine="0"} 0.0
vllm:request_generation_tokens_bucket{le="5.0",engine="0"} 90.0
vllm:request_generation_tokens_bucket{le="+Inf",engine="0"} 100.0
vllm:num_requests_running{engine="0"} 3.0
"""


def test_prometheus():
    """The laws of the buckets: half up to 10, none above 20; what lies beyond is said."""
    requests, report = read(METRICS)
    assert len(requests) == report.rows_in == 100
    assert np.sort(requests.prompt)[[0, 49, 50, 99]].tolist() == [1, 10, 11, 20]
    assert (requests.output.min(), requests.output.max()) == (2, 5)
    assert not (requests.output[1:] >= requests.output[:-1]).all()
    assert "10 outputs above 5 tokens are taken as that long" in report.notes
    assert any(
        "the mean of the prompts is" in note and "9 in truth" in note for note in report.notes
    )
    again, _ = read(METRICS)
    assert again.output.tolist() == requests.output.tolist()
    two = METRICS + METRICS.replace('engine="0"', 'engine="1"')
    assert len(read(two)[0]) == 200
    with pytest.raises(InputError, match="hold no counts of vllm:request_generation_tokens"):
        read(METRICS.replace("generation", "x"))


def page(prompts, outputs, **gauges):
    """A page of metrics: two histograms, and whatever else."""
    rows = []
    for name, counts in (("prompt", prompts), ("generation", outputs)):
        rows += [f'vllm:request_{name}_tokens_bucket{{engine="0",le="{edge}"}} {count}'
                 for edge, count in counts.items()]  # fmt: skip
    rows += [f'vllm:{name}{{engine="0"}} {value}' for name, value in gauges.items()]
    return "\n".join(rows) + "\n"


CACHE = (
    'vllm:cache_config_info{block_size="16",num_gpu_blocks="2500",enable_prefix_caching="True"} 1\n'
)


def test_of_several_pages_the_last_counts():
    """Counters count from the server's start."""
    early, late = {"10": 2, "+Inf": 2}, {"10": 5, "+Inf": 5}
    requests, report = read(page(early, early) + page(late, late))
    assert len(requests) == 5
    assert any("2 pages" in note for note in report.notes)
    _, report = read(page(late, late) + page(early, early))
    assert any("started again" in note for note in report.notes)


def test_metrics_say_what_they_know():
    """M, preemptions, use, queue, settings; without histograms no request is made up."""
    gauges = {"num_preemptions_total": 4, "kv_cache_usage_perc": 0.75, "num_requests_running": 6,
              "num_requests_waiting": 9, "prefix_cache_queries_total": 200,
              "prefix_cache_hits_total": 50}  # fmt: skip
    told = ["its KV cache is 40,000 tokens: --memory 40000", "4 preemptions",
            "75 % of the KV cache in use", "6 running and 9 waiting",
            "25 % of the prompt tokens were in the prefix cache",
            "enable_prefix_caching True"]  # fmt: skip
    counts = {"10": 2, "+Inf": 2}
    _, report = read(page(counts, counts, **gauges) + CACHE)
    assert all(any(each in note for note in report.notes) for each in told)
    with pytest.raises(InputError) as refused:
        read("# a page\n" + CACHE + page({}, {}, **gauges))
    assert all(each in str(refused.value) for each in told)


LOGS = {
    "vLLM": (
        "INFO 01-02 10:00:00 [core.py:9] GPU KV cache size: 43,210 tokens\n"
        "INFO [loggers.py:1] Engine 000: Running: 5 reqs, Waiting: 8 reqs, GPU KV cache usage: "
        "91.5%, Prefix cache hit rate: 12.5%\n",
        ["43,210", "--memory 43210", "91.5 %", "5 running and 8 waiting", "12.5 %"],
    ),
    "older vLLM": (
        "INFO # GPU blocks: 1000, # CPU blocks: 9\n"
        "WARNING Sequence group 3 is preempted by PreemptionMode.RECOMPUTE\n",
        ["16,000", "if a block is 16", "1 preemptions"],
    ),
    "SGLang": (
        "[2025-01-01 10:00:00] max_total_num_tokens=55555, chunked_prefill_size=8192\n"
        "[2025-01-01 10:00:09] Decode batch. #running-req: 7, #token: 9, token usage: 0.25, "
        "#queue-req: 2\n",
        ["55,555", "chunked_prefill_size 8192", "25 %", "7 running and 2 waiting"],
    ),
    "TensorRT-LLM": (
        "[TRT-LLM] [I] Max tokens in paged KV cache: 77,000. Allocated 9 GiB\n",
        ["--memory 77000"],
    ),
}


@pytest.mark.parametrize("server", LOGS)
def test_a_server_log_holds_no_requests(server):
    """But tells what the server is."""
    log, told = LOGS[server]
    with pytest.raises(InputError) as refused:
        read(log)
    assert "holds no requests" in str(refused.value)
    assert all(each in str(refused.value) for each in told)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metadata:\n  version: 2\nbenchmarks:\n- a: 1\n", "this is YAML"),
        ("---\nkind: report\n", "this is YAML"),
        ("version: 1\nruns:\n  - a: 2\n", "this is YAML"),
        ('2025-01-01T00:00:00Z stdout F {"prompt_tokens": 7}\n', "before the object of each line"),
    ],
)
def test_other_text_is_called_what_it_is(text, said):
    with pytest.raises(InputError, match=said):
        read(text)
