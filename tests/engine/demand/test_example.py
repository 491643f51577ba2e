"""Every ready-made experiment loads, and shows what its sentence says."""

import json

import numpy as np
import pytest

from engine import InputError, find_policy
from engine.demand.example import examples, load_example, read_examples
from engine.measure.times import queueing, ttft

ORDERS = ("vllm", "fcfs", "mc-sf", "shortest-total", "svf", "sorted-f")


def total(key, policy):
    example = load_example(key)
    return find_policy(policy).run(example.workload, example.memory).latency.sum()


def test_every_example_is_small_and_described():
    """3 to 2,000 requests that all fit, a title and one sentence."""
    for key, example in examples().items():
        assert example.key == key
        assert example.title
        assert example.shows.endswith(".")
        assert 3 <= len(example.workload) <= 2000
        assert example.workload.peak.max() <= example.memory


def test_head_of_line_blocking():
    """Arrival order pays five times the latency of volume order."""
    assert total("head-of-line-blocking", "fcfs") > 5 * total("head-of-line-blocking", "svf")


def test_fat_and_thin():
    """Shortest output first pays three times what smallest volume first pays."""
    assert total("fat-and-thin", "mc-sf") == 3 * total("fat-and-thin", "svf")


def test_total_size_misleads():
    """Almost three times, and sixteen rounds against one."""
    assert total("total-size-misleads", "shortest-total") == pytest.approx(
        2.91 * total("total-size-misleads", "svf"), rel=0.001
    )


def test_six_identical():
    """33 by preempting, 36 without."""
    assert total("six-identical", "vllm") == 33
    assert total("six-identical", "svf") == 36


def test_square_root_family():
    """The known ratio at M = 100, 2.71."""
    assert total("square-root-family", "mc-sf") == pytest.approx(
        2.71 * total("square-root-family", "svf"), rel=0.002
    )


def test_nobody_can_know():
    """Every list policy starts the long one; waiting for the short ones would have halved it."""
    first_short = 89
    wait = (first_short + 1 + 99) + 50 * 1  # all short ones in one round, then the long one
    assert total("nobody-can-know", "svf") > 2 * wait
    run = find_policy("svf").run(load_example("nobody-can-know").workload, 100)
    assert run.start[0] == 0


def test_bursty_evening():
    """The average load is below 0.7, and half of the requests wait over 100 rounds in fcfs."""
    example = load_example("bursty-evening")
    workload = example.workload
    run = find_policy("fcfs").run(workload, example.memory)
    assert workload.volume.sum() / example.memory / workload.arrival.max() < 0.7
    assert np.median(queueing(run)) > 100


def test_light_load():
    """All policies come out equal."""
    totals = {total("light-load", key) for key in ("fcfs", "mc-sf", "svf", "vllm", "reverse")}
    assert len(totals) == 1


@pytest.mark.parametrize("n", [200, 2000])
def test_eighty_twenty(n):
    """Order matters: arrival order is at least three times as slow as volume order."""
    key = f"eighty-twenty-{n}"
    assert len(load_example(key).workload) == n
    assert total(key, "fcfs") > 3 * total(key, "svf")


def test_unknown_example_lists_the_known():
    """The message names every example there is."""
    with pytest.raises(InputError, match="unknown example x: choose from batch-night, "):
        load_example("x")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"scenario": {"n": 5}}, "the field memory is missing"),
        ({"memory": 9}, "must have either a scenario or requests"),
        (
            {"memory": 9, "scenario": {"n": 5}, "requests": [{"prompt": 1, "output": 1}]},
            "must have either",
        ),
        ({"memory": 9, "scenario": {"n": 0}}, "scenario: n must be a whole number"),
        ({"memory": 9, "scenario": {"size": 0}}, "scenario: unknown field size"),
        ({"memory": 0, "scenario": {"n": 5}}, r"memory M \(tokens\) must be"),
        ({"memory": 9, "requests": [{"prompt": 1}]}, "requests 1: the field output is missing"),
        ({"memory": 9, "requests": [{"prompt": 1, "output": 0}]}, "requests 1: output must be"),
        ({"memory": 9, "requests": [3]}, "requests 1: must be a record"),
        ({"memory": 9, "requests": 3}, "requests must be a list"),
    ],
)
def test_bad_example_file_is_named_with_the_field(tmp_path, record, said):
    """The message starts with the file and says which field is wrong and how."""
    (tmp_path / "bad.json").write_text(json.dumps({"title": "t", "shows": "s", **record}))
    with pytest.raises(InputError, match=rf"bad\.json: {said}"):
        read_examples(tmp_path)


def runs_of(key, *policies):
    example = load_example(key)
    return [find_policy(policy).run(example.workload, example.memory) for policy in policies]


def test_chat_assistant():
    """The load, five times earlier first tokens, and who pays for them."""
    example = load_example("chat-assistant")
    workload = example.workload
    load = workload.volume.sum() / example.memory / workload.arrival.max()
    assert load == pytest.approx(0.8, abs=0.05)
    svf, vllm = runs_of("chat-assistant", "svf", "vllm")
    assert ttft(vllm).mean() > 5 * ttft(svf).mean()
    assert np.percentile(svf.latency, 99) > np.percentile(vllm.latency, 99)


def test_rag():
    """Prompts of thousands, answers of tens, first tokens four times as early."""
    workload = load_example("rag").workload
    assert np.mean(workload.prompt > 1000) > 0.5
    assert np.median(workload.output) < 30
    svf, vllm = runs_of("rag", "svf", "vllm")
    assert ttft(vllm).mean() > 4 * ttft(svf).mean()


def test_summarisation():
    """Six orders differ by less than five per cent."""
    means = [run.latency.mean() for run in runs_of("summarisation", *ORDERS)]
    assert max(means) < 1.05 * min(means)


def test_batch_night():
    """Ends within a tenth of each other, means that differ by almost half."""
    svf, vllm, *others = runs_of("batch-night", "svf", "vllm", *ORDERS)
    ends = [run.finish.max() for run in (svf, vllm, *others)]
    assert max(ends) < 1.1 * min(ends)
    assert 0.5 < svf.latency.mean() / vllm.latency.mean() < 0.58
