"""What an engine imposes binds, and is named: promised memory, sequences, tokens a round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Choice, Deployment, Workload
from engine.capacity.draws import Draws
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.demand.scenario import Scenario
from engine.engines import read_engine
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.need import largest, needs

CASES = {  # (engine, what binds, needs of (1, 9) in M = 100, rounds of a whole server)
    "reserved": ("trtllm:block_size=1,max_output=99", 9 * 0.99),  # all but one token is kept
    "sequences": ("vllm:block_size=1,max_num_seqs=2", 9 / 2),
    "tokens a round": ("vllm:block_size=1,max_num_batched_tokens=3", 9 / 3),
    "memory": ("vllm:block_size=1", (0 * 9 + 45) / 100),
}


@pytest.mark.parametrize("of", CASES)
def test_what_it_imposes_is_a_need(of):
    options, amount = CASES[of]
    engine = read_engine(options)
    workload = Workload([0.0, 0.0], [1, 1], [9, 9])
    choice = Deployment(100, engine=engine).inside(Choice("fcfs"))
    need = largest(needs(workload, 100, ROUNDS, choice))
    assert need.of == of
    assert need.amounts.tolist() == pytest.approx([amount, amount])


def test_promised_memory_binds_a_rate():
    """Outputs of 9 in the place of 99: one at a time, so no more than one in nine rounds."""
    source = Scenario(mix=(("short", 1.0),), n=200, arrivals="poisson", rate=0.01)
    engine = read_engine("trtllm:max_output=1000")
    capacity = largest_rate(
        Choice("fcfs"), Question(Draws(source), Deployment(1100, engine=engine))
    )
    plain = largest_rate(Choice("fcfs"), Question(Draws(source), Deployment(1100)))
    assert capacity.binding.kind == "reserved"
    assert 0 < capacity.rate < 0.3 * plain.rate


ENGINES = (
    "vllm:block_size=4,max_num_seqs=3,max_num_batched_tokens=7",
    "vllm:block_size=1,max_num_batched_tokens=4,chunked_prefill=0,watermark=0.1",
    "trtllm:block_size=3,max_num_seqs=4,max_num_batched_tokens=9",
    "trtllm:block_size=2,max_output=12,standing=1",
)


@given(
    st.lists(st.tuples(st.integers(1, 10), st.integers(1, 6)), min_size=2, max_size=20),
    st.sampled_from(ENGINES),
    st.sampled_from((ROUNDS, seconds_clock(0.3, 0.05, 4, 0.01, 0.02))),
)
def test_no_backlog_is_over_before_its_need(sizes, engine, clock):
    """Of each resource that an engine has, whatever it preempts on its way."""
    prompt, output = map(list, zip(*sizes, strict=True))
    workload, there = Workload([0.0] * len(sizes), prompt, output), read_engine(engine)
    run = Deployment(24, clock, engine=there).run(Choice("svf"), workload)
    for need in needs(run.workload, 24, clock, Choice.that_made(run), not run.gave_up_kv):
        assert need.amounts.sum() <= run.finished_at.max() * (1 + 1e-9), (need.of, need.way)
