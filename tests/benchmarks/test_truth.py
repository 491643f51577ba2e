"""Measured runs are read as they were: one of our own is met exactly."""

import json

import numpy as np
import pytest

from benchmarks.truth.__main__ import halves, main
from benchmarks.truth.fit import miss
from benchmarks.truth.measured import read_measured
from engine import Choice, Deployment, Workload
from engine.engines import read_engine
from engine.machine.clock import seconds_clock

CLOCK = seconds_clock(0.02, 1e-4, 50, 1e-7, 1e-5)


@pytest.fixture
def path(tmp_path):
    """Twelve requests in 40 blocks, some of which are preempted, as LLMServingSim keeps runs."""
    workload = Workload(np.arange(12) / 16, [100 + i for i in range(12)], [60] * 12)
    engine = read_engine("vllm:max_num_seqs=8,max_num_batched_tokens=256")
    run = Deployment(40 * 16, CLOCK, engine=engine).run(Choice.of("fcfs"), workload)
    assert run.preemptions.sum() > 0
    columns = zip(
        workload.prompt, workload.arrival, run.first_token_at, run.finished_at, strict=True
    )
    rows = [
        {"request_id": f"r-{i}", "input_toks": int(prompt), "output_toks": 60,
         "arrival_time": 1e9 + sent, "queued_ts": 500 + sent + i / 1000, "scheduled_ts": 0.0,
         "first_token_ts": 500 + first, "last_token_ts": 500 + last}
        for i, (prompt, sent, first, last) in enumerate(columns)
    ]  # fmt: skip
    settings = {
        "engine_kwargs": {"max_num_seqs": 8, "max_num_batched_tokens": 256},
        "kv_cache": {"num_gpu_blocks": 41, "block_size": 16},
    }
    path = tmp_path / "run_ours.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in reversed(rows)) + "\n")
    path.with_suffix(".meta.json").write_text(json.dumps(settings))
    return path


def test_our_own_run_is_met(path):
    """With its own round times; with others it is not."""
    run = read_measured(path)
    assert run.memory == 640
    assert miss(run, CLOCK, np.arange(12)) == pytest.approx(0, abs=1e-6)
    slower = seconds_clock(0.025, 1e-4, 50, 1e-7, 1e-5)
    assert miss(run, slower, np.arange(12)) > 0.1


def test_halves_share_no_request():
    for known, unknown in halves(7).values():
        assert sorted([*known, *unknown]) == list(range(7))


def test_without_runs_it_says_that_it_skips(tmp_path, capsys):
    assert main(str(tmp_path)) == 0
    assert "SKIPPED" in capsys.readouterr().err
