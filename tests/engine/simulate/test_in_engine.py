"""An order inside an engine: against its plain twin, the laws, and the real engine's schedules."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.real_engine.schedules import read_sets, schedules_of, steps_of
from engine import Choice, Deployment, Workload
from engine.bound import best_cover
from engine.bound_method import find_method
from engine.engines import ENGINES, IDEAL, Engine, read_engine
from engine.errors import InputError
from engine.machine.clock import ROUNDS, seconds_clock
from engine.memory_curve import peak_memory
from engine.policy import find_policy
from tests.twins.plain_engine import twin_of

IN_SECONDS = seconds_clock(0.5, 0.125, 4, 0.015625, 0.0625)


@st.composite
def engines(draw):
    """Options that make requests wait, miss rounds and be preempted."""
    cut = draw(st.booleans())
    budgets = st.sampled_from([1, 2, 5, 16, 64])
    return Engine(
        "vllm",
        block_size=draw(st.sampled_from([1, 2, 3, 4, 8, 16])),
        max_num_seqs=draw(st.sampled_from([0, 1, 2, 4])),
        max_num_batched_tokens=draw(budgets if cut else st.one_of(st.just(0), budgets)),
        chunked_prefill=cut,
        watermark=draw(st.sampled_from([0.0, 0.0, 0.1, 0.3])),
        standing=draw(st.sampled_from([-1, -1, 0, 3])),
        admission=draw(st.sampled_from(["present", "present", "reserve"])),
        victim=draw(st.sampled_from(["order", "newest", "last"])),
        reserve_full_input=draw(st.booleans()),
        max_output=draw(st.sampled_from([0, 3, 30])),
    )


@st.composite
def crowds(draw):
    """(workload, memory, engine): every request fits, few fit together."""
    engine = draw(engines())
    memory = draw(st.integers(engine.block_size + 4, engine.block_size + 60))
    room = engine.usable(memory)
    lengths = st.integers(2, room).flatmap(
        lambda total: st.integers(1, total - 1).map(lambda output: (total - output, output))
    )
    sizes = draw(st.lists(lengths, min_size=1, max_size=10))
    moments = st.integers(0, 40).map(lambda k: k / 2)
    arrival = draw(st.lists(moments, min_size=len(sizes), max_size=len(sizes)))
    priority = draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    prompt, output = zip(*sizes, strict=True)
    return Workload(arrival, list(prompt), list(output), priority=priority), memory, engine


@pytest.mark.parametrize("clock", [ROUNDS, IN_SECONDS], ids=["rounds", "seconds"])
@given(st.data())
def test_the_kernel_is_its_twin(clock, data):
    """Step for step, and never above M; no bound is above the cost."""
    workload, memory, engine = data.draw(crowds())
    key = data.draw(st.sampled_from(["fcfs", "priority", "svf", "mc-sf"]))
    deployment = Deployment(memory, clock, engine=engine)
    run = deployment.run(Choice.of(key), workload)
    plain = twin_of(workload, memory, engine, clock, key)
    assert run.start.tolist() == plain.start
    assert run.first_token.tolist() == plain.first
    assert run.finish.tolist() == plain.finish
    assert run.preemptions.tolist() == plain.lost
    assert run.recomputed.tolist() == plain.again
    assert run.finished_at == pytest.approx(plain.finished_at, rel=1e-9)
    assert peak_memory(run) <= max(plain.used) <= engine.whole_blocks(memory)
    assert run.gave_up_kv <= engine.preempts
    keys = ["fluid", "prices"] if clock.is_rounds else ["srpt", "prices"]
    bounds = [row for key in keys for row in deployment.bounds(find_method(key), workload)]
    cover = best_cover(run, bounds)
    assert cover is not None
    assert cover.value <= run.latency.sum() * (1 + 1e-9)


RECORDED = read_sets(Path(__file__).parents[2] / "recorded" / "vllm.json.gz")


@pytest.mark.parametrize("recorded", RECORDED, ids=[set_["name"] for set_ in RECORDED])
def test_as_the_real_engine_did_it(recorded):
    """Every recorded schedule, to the step: first token, finish, preemptions."""
    for schedule in schedules_of([recorded]):
        assert schedule.first_difference(steps_of(schedule.run())) == ""


def test_a_step_too_late_is_told():
    """With the request and both steps."""
    schedule = next(schedules_of(RECORDED))
    made = steps_of(schedule.run())
    made["finish"][1] += 1
    assert f"finish {made['finish'][1] - 1}, here {made['finish'][1]}" in schedule.first_difference(
        made
    )


def test_what_was_recorded_is_worth_comparing():
    """All kinds, by the whole engine and by its scheduler, with preemption and without."""
    sets = {(set_["kind"], set_["how"]) for set_ in RECORDED}
    kinds = ("whole", "chunk", "uncut", "priority", "watermark")
    assert sets == {(kind, how) for kind in kinds for how in ("engine", "scheduler")}
    lost = [sum(schedule.case["preemptions"]) for schedule in schedules_of(RECORDED)]
    assert len(lost) >= 60
    assert sum(count > 0 for count in lost) >= 20
    assert sum(count == 0 for count in lost) >= 20


def test_a_token_is_stored_in_the_round_after():
    """(3, 2) holds 3 + 1 tokens at most, not 5."""
    workload = Workload([0.0], [3], [2])
    engine = read_engine("vllm:block_size=1")
    assert peak_memory(Deployment(4, engine=engine).run(Choice.of("fcfs"), workload)) == 4
    with pytest.raises(InputError, match="no request fits"):
        Deployment(3, engine=engine).run(Choice.of("fcfs"), workload)


def test_who_can_run_where():
    """Orders everywhere; what is no order, or ranks who has not come, in the ideal engine only."""
    there = Deployment(100, engine=ENGINES["vllm"])
    assert there.takes(Choice.of("svf"))
    for key in ("vllm", "sarathi", "sorted-f", "best-found"):
        assert not there.takes(Choice.of(key))
        with pytest.raises(InputError, match="ideal engine only"):
            there.run(Choice.of(key), Workload([0.0], [3], [2]))
    assert {choice.key for choice in there.quick(100)} >= {"fcfs", "svf", "mc-sf", "priority"}
    with pytest.raises(InputError, match="look-ahead"):
        there.run(Choice.of("svf", {"skip": 3}), Workload([0.0], [3], [2]))


def test_the_ideal_engine_changes_nothing():
    workload = Workload([0.0, 1.0], [3, 4], [2, 5])
    plain = find_policy("svf").run(workload, 12)
    run = Deployment(12, engine=IDEAL).run(Choice.of("svf"), workload)
    assert run.finish.tolist() == plain.finish.tolist()
