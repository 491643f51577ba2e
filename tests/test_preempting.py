"""The preempting kernel does exactly what a round-by-round twin does."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Workload, find_policy
from engine.metrics import memory_curve, recomputed_tokens
from engine.simulate.preempting import preempting
from tests import twin
from tests.strategies import instances


@settings(max_examples=2000)
@given(instances(), st.floats(0, 0.9), st.integers(1, 9))
def test_kernel_equals_twin(instance, watermark, max_num_seqs):
    """Starts, finishes, preemptions and the peak, for any watermark and any cap."""
    workload, memory = instance
    limit = int(memory * (1 - watermark))
    run = preempting(workload, memory, limit, max_num_seqs)
    start, finish, preemptions, used = twin.vllm(workload, memory, limit, max_num_seqs)
    assert run.start.tolist() == start
    assert run.finish.tolist() == finish
    assert run.preemptions.tolist() == preemptions
    assert memory_curve(run).peak == max(used) <= memory


def test_preempting_beats_every_schedule_without():
    """Six of (2, 3) in M = 10: 33 with two preemptions, while 36 is optimal without."""
    run = find_policy("vllm").run(Workload([0] * 6, [2] * 6, [3] * 6), 10)
    assert run.latency.sum() == 33
    assert run.preemptions.tolist() == [0, 0, 1, 0, 1, 0]


def test_recompute_counts_prompt_and_generated_tokens():
    """Two of (2, 6) in M = 12: at 4 generated each, the newest goes and prefills 2 + 4 again."""
    run = find_policy("vllm").run(Workload([0, 0], [2, 2], [6, 6]), 12)
    assert run.stays.held.tolist() == [2, 2, 6]
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
