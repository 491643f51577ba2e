"""What preemption and its options do to small cases worked out by hand."""

import pytest

from engine import InputError, Workload, find_policy
from engine.machine.clock import seconds_clock
from engine.measure.metrics import recomputed_tokens


def test_preempting_beats_every_schedule_without():
    """Six of (2, 3) in M = 10: 33 with two preemptions, while 36 is optimal without."""
    run = find_policy("vllm").run(Workload([0] * 6, [2] * 6, [3] * 6), 10)
    assert run.latency.sum() == 33
    assert run.preemptions.tolist() == [0, 0, 1, 0, 1, 0]


def test_recompute_counts_prompt_and_generated_tokens():
    """Two of (2, 6) in M = 12: at 4 generated each, the newest goes and prefills 2 + 4 again."""
    run = find_policy("vllm").run(Workload([0, 0], [2, 2], [6, 6]), 12)
    assert run.residencies.held.tolist() == [2, 2, 6]
    assert run.finish.tolist() == [6, 8]
    assert recomputed_tokens(run) == 6


def test_watermark_is_waived_for_an_empty_server():
    """A request between the limit and M runs alone instead of waiting for ever."""
    run = find_policy("vllm").run(Workload([0, 0], [8, 8], [2, 2]), 10, watermark=0.5)
    assert run.start.tolist() == [0, 2]


def test_watermark_is_not_floored_by_rounding():
    """100 tokens less a watermark of 0.9 are 10, not the 9 that floats say."""
    workload = Workload([0, 0], [4, 4], [1, 1])
    assert find_policy("vllm").run(workload, 100, watermark=0.9).start.tolist() == [0, 0]


def test_swapped_requests_lose_nothing_but_time():
    """As above, but what moves out and in, 6 tokens each way, lengthens two rounds."""
    vllm = find_policy("vllm")
    workload = Workload([0, 0], [2, 2], [6, 6])
    run = vllm.run(workload, 12, clock=seconds_clock(1.0), swap=1, transfer=0.25)
    assert run.preemptions.tolist() == [0, 1]
    assert recomputed_tokens(run) == 0
    assert run.finished_at.tolist() == [7.5, 11.0]


def test_blocks_take_whole_ones():
    """M = 10 holds two blocks of 4: (3, 5) fits exactly, (3, 6) is set aside."""
    workload = Workload([0, 0, 0], [3, 3, 3], [5, 6, 1])
    run = find_policy("vllm").run(workload, 10, block_size=4)
    assert run.set_aside.tolist() == [1]
    assert run.finish.tolist() == [5, 1]


def test_contradicting_options_are_refused():
    """Each message names the option to change."""
    workload = Workload([0], [3], [5])
    with pytest.raises(InputError, match="max_num_batched_tokens above 0"):
        find_policy("vllm").run(workload, 10, chunked_prefill=1)
    with pytest.raises(InputError, match="set one to 0"):
        find_policy("vllm").run(workload, 10, chunked_prefill=1, max_num_batched_tokens=5, swap=1)
