"""What is carried is carried: queues whose answer is known, bursts, and who is not served."""

import numpy as np
import pytest

from benchmarks.known_queues import KINDS, asked, known_queues
from engine import ROUNDS, Choice, Deployment, Scenario, Workload, find_policy, generate
from engine.admission_limits import AdmissionLimits
from engine.capacity.binding import Binding
from engine.capacity.carried import keeps_up_with, verdict_of_law
from engine.capacity.draws import Draws
from engine.capacity.limit import Limit, ceiling_of, limit
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer
from engine.capacity.question import Question
from engine.capacity.rate import largest_rate
from engine.capacity.remarks import remarks
from engine.machine.clock import seconds_clock
from engine.machine.hardware import presets
from engine.measure.slo import Slo

LARGE = presets()["llama-2-70b-a100-tp4"].clock
MIX = Scenario(n=2000, arrivals="poisson", rate=0.05)


@pytest.mark.parametrize("queue", known_queues(len(KINDS)), ids=lambda queue: queue.kind)
def test_known_queues(queue):
    """One of each kind of benchmarks/known_queues.py, which has the hundred."""
    told = asked(queue, 2.5, 10_000)
    assert told["holds"]
    assert 0.95 < told["rate"] <= 1
    assert told["high"] < 1.02
    assert told["carries"]
    assert told["one fewer"]
    assert told["says"].startswith("falls behind")


def stream_of_excluding(rate, n=5000):
    """(6, 1) in M = 10 holds 7: no schedule serves more than one a round."""
    gaps = np.random.default_rng(1).exponential(1 / rate, n)
    return Workload(np.cumsum(gaps), [6] * n, [1] * n)


@pytest.mark.parametrize("key", ["fcfs", "vllm", "srpt"])
def test_requests_that_exclude_each_other(key):
    """However light the draw: at most one a round, and packing is what binds."""
    found = largest_rate(
        Choice(key), Question(Draws(stream_of_excluding(0.9), 1), Deployment(10, ROUNDS))
    )
    assert 0.97 <= found.rate <= 1
    assert found.ceiling == pytest.approx(1)
    assert found.binding == Binding("packing")


def test_few_sequences_bind():
    """Service takes o seconds with one at a time: 1 over the mean output, and not a fifth more."""
    mix = Scenario(mix={"short": 1}, n=2000, arrivals="poisson", rate=0.006)
    choice = Choice.of("vllm", {"max_num_seqs": 1})
    found = largest_rate(choice, Question(Draws(mix, 4), Deployment(16_492, seconds_clock(1.0))))
    many = generate(Scenario(mix={"short": 1}, n=1_000_000))
    truth = 1 / many.output.mean()
    assert found.rate <= truth
    assert found.interval[0] <= truth <= found.interval[1] <= 1.02 * truth
    assert found.binding.kind == "sequences"


def test_work_is_weighed_not_requests():
    """svf serves small ones first: by count twice as many, by work what the ceiling allows."""
    question = Question(Draws(MIX, 2), Deployment(16_492))
    top = ceiling_of(Choice("svf"), question)
    found = limit(Choice("svf"), question, top, 0)
    assert found.carries < found.fails < top.rate
    assert found.carries == pytest.approx(0.0975, rel=0.04)


@pytest.mark.parametrize("key", ["svf", "vllm"])
def test_what_is_kept_up_with_is_worked_off(key):
    """At 3 % less the queue of 4,000 at once is gone after 150,000; at 8 % more it grows."""
    found = keeps_up_with(
        Choice(key), Scenario(arrivals="poisson", rate=1.0), Deployment(16_492, LARGE)
    )
    waiting = {}
    for times in (0.97, 1.08):
        rate = times * found.carries
        drawn = generate(Scenario(n=150_000, arrivals="poisson", rate=rate, seed=5))
        burst = drawn.take(np.argsort(drawn.arrival))
        arrival = np.maximum(0, burst.arrival - burst.arrival[4000])
        run = find_policy(key).run(
            Workload(arrival, burst.prompt, burst.output), 16_492, clock=LARGE
        )
        ends = (arrival.max() / 2, arrival.max())
        waiting[times] = [int(((arrival <= at) & (run.started_at > at)).sum()) for at in ends]
    assert waiting[0.97][1] < 400
    assert waiting[1.08][1] > waiting[1.08][0]


def test_one_verdict_everywhere():
    """A run that looks well at a rate that is not carried is told to be overloaded, and why."""
    deployment = Deployment(16_492, LARGE)
    found = keeps_up_with(Choice("vllm"), Scenario(arrivals="poisson", rate=1.0), deployment)
    kinds = {}
    for times in (0.8, 1.1):
        source = Scenario(n=1000, arrivals="poisson", rate=times * found.fails)
        run = deployment.run(Choice("vllm"), generate(source))
        kinds[times] = verdict_of_law(run, source, deployment).kind
    assert kinds[0.8] in ("stable", "saturated")
    assert kinds[1.1] == "overloaded"


def run_with_patience(lost):
    """100 requests for one place each 1 round long; the last ones give up at once."""
    n = 1000
    workload = Workload(
        np.append(np.arange(n - lost) * 2.0, np.full(lost, 2.0 * n)),
        np.full(n, 9),
        np.ones(n),
        np.append(np.zeros(n - lost), np.ones(lost)),
        ("kept", "lost"),
        admission_limits=AdmissionLimits(patience=0.5),
    )
    return find_policy("fcfs").run(workload, 10)


@pytest.mark.parametrize(("lost", "kept"), [(6, True), (12, False)])
def test_who_is_not_served_is_late_without_end(lost, kept):
    """One of the last is served; P99 of all is one of those served only where 10 at most left."""
    run = run_with_patience(lost)
    assert len(run.unserved) == lost - 1
    objective = Objective(Slo(latency=5))
    assert (objective.excess(run) <= 1) == kept
    assert np.isinf(objective.percentile(run.latency, 12))
    assert objective.percentile(run.latency, 0) == 1
    by_class = Objective(by_class=(("lost", Slo(latency=5)),))
    assert by_class.excess(run) == np.inf
    assert Objective(by_class=(("kept", Slo(latency=5)),)).excess(run) <= 1


def test_remarks_tell_who_is_set_aside():
    """How many, of how many, and what binds."""
    source = Scenario(mix={"short": 0.5, "long": 0.5}, n=400, arrivals="poisson", rate=2)
    deployment = Deployment(2000, LARGE)
    found = largest_rate(Choice("fcfs"), Question(Draws(source, 1), deployment))
    told = " ".join(remarks([Offer(found)], generate(source), deployment, Objective()))
    assert "164 of 400 requests (41.0" in told
    assert "What binds fcfs is the memory." in told


def test_a_limit_is_between_what_passed_and_what_did_not():
    """Its use of resources is told, at most all of each."""
    question = Question(Draws(MIX, 1), Deployment(16_492))
    found = limit(Choice("vllm"), question, ceiling_of(Choice("vllm"), question), 0)
    assert isinstance(found, Limit)
    assert all(0 < share <= 1.02 for _, share in found.use)
    assert found.of == "memory"
