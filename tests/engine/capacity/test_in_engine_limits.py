"""What an engine imposes binds, and is named: promised memory, sequences, tokens a round."""

import pytest

from engine import Choice, Deployment, Workload
from engine.capacity.draws import Draws
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.demand.scenario import Scenario
from engine.engines import read_engine
from engine.machine.clock import ROUNDS
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
