"""Files that were once misread, with their right values, through the command line.

They lie outside the project: where they are absent these tests are skipped.
"""

import csv
import gzip
import json

import pytest

from engine.cli import main


@pytest.fixture
def case(shared):
    folder = shared / "cases" / "reports"
    if not folder.is_dir():
        pytest.skip("the files that were once misread are absent")
    return folder


def ask(capsys, tmp_path, file, *more):
    """The report, and the requests as text: arrival, prompt, output."""
    out = tmp_path / "out.csv"
    code = main(["import", str(file), "-o", str(out), "--format", "json", *more])
    said = capsys.readouterr()
    assert code == 0, said.err
    with out.open() as rows:
        requests = [(float(a), int(p), int(o)) for a, p, o in list(csv.reader(rows))[1:]]
    return json.loads(said.out), requests


def at(step, n, prompt, output):
    return [(pytest.approx(step * i), prompt, output) for i in range(n)]


RIGHT = {
    "k2_vllm_queue_times.json": at(0.1, 4, 10, 3),
    "k3_vllm_latencies.json": at(1, 4, 10, 3),
    "k4_status_code.csv": [(0, 10, 5), (3, 10, 5)],
    "k4_response_status.csv": [(0, 10, 20)],
    "k5_request_created_at.csv": at(10, 2, 10, 20),
    "k5_request_timestamp.csv": at(10, 2, 10, 20),
    "k5_date.csv": at(10, 2, 10, 20),
    "k6_otel.jsonl": [(0, 10, 20), (2, 11, 21)],
    "k6_openai_batch.jsonl": at(1, 3, 10, 20),
    "k6_dynamo_request_trace.jsonl": at(1, 3, 128, 16),
    "k7_bedrock.jsonl": at(1, 3, 100, 20),
    "k7_two_families.csv": at(1, 2, 10, 20),
    "k9_cache.jsonl": at(1, 2, 960, 20),
    "k10_chinese.json": [(0, 300, 150)],
    "k11_newline.csv": at(1, 2, 10, 20),
    "k12_messages.jsonl": [(0, 3, 1)],
    "k16_aiperf_2025.jsonl": at(1, 4, 550, 193),
    "k18_mooncake_delay.jsonl": [(0, 100, 10), (2, 200, 10)],
    "k19_inference_perf_image.json": at(1, 3, 1520, 3),
    "k20_rate.csv": at(3, 10, 10, 5),
    "k22_latency_ms.csv": at(1.5, 3, 10, 20),
    "k25_pretty.jsonl": at(1, 3, 10, 1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_files_are_read_as_they_mean(capsys, tmp_path, case, name):
    """Arrivals in seconds, prompts, outputs."""
    _, requests = ask(capsys, tmp_path, case / name)
    assert requests == RIGHT[name]


def test_dynamo_in_other_wrappings(capsys, tmp_path, case):
    """Gzipped, and within an event."""
    raw = (case / "k6_dynamo_request_trace.jsonl").read_text()
    packed = tmp_path / "trace.jsonl.gz"
    packed.write_bytes(gzip.compress(raw.encode()))
    wrapped = tmp_path / "wrapped.jsonl"
    events = ({"timestamp": 5, "event": json.loads(line)} for line in raw.splitlines())
    wrapped.write_text("\n".join(map(json.dumps, events)))
    for file in (packed, wrapped):
        report, requests = ask(capsys, tmp_path, file)
        assert requests == RIGHT["k6_dynamo_request_trace.jsonl"]
        assert sum(report["set_aside"].values()) == 1
        assert report["measured"] == {"ttft": 3, "latency": 3}


SAID = {
    "k7_aiperf_summary.json": "give profile_export.jsonl",
    "k8_openai_usage.csv": "the total of several requests",
    "k13_startup.log": "--memory 2042016",
    "k17_guidellm.yaml": "this is YAML",
    "k24_missing_output.csv": "output=Resp tokens",
}


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_read_is_said(capsys, case, name):
    """In one sentence, with what to give."""
    assert main(["import", str(case / name)]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.strip().splitlines())) == ("", 1)
    assert SAID[name] in said.err


def test_what_else_is_said(capsys, tmp_path, case):
    """Rates, measured times, doubts, the later of two scrapes."""
    assert ask(capsys, tmp_path, case / "k20_rate.csv")[0]["rate"] == pytest.approx(1 / 3)
    report, _ = ask(capsys, tmp_path, case / "k3_vllm_latencies.json")
    assert report["measured"] == {"ttft": 0, "latency": 4}
    report, _ = ask(capsys, tmp_path, case / "k22_latency_ms.csv")
    assert any("is the unit right?" in note for note in report["notes"])
    report, _ = ask(capsys, tmp_path, case / "k22_latency_ms.csv", "--duration-unit", "ms")
    assert not any("is the unit right?" in note for note in report["notes"])
    report, _ = ask(capsys, tmp_path, case / "k13_two_scrapes.prom")
    assert report["rows_kept"] == 8


def test_sglang_cannot_be_calibrated_from(capsys, case):
    """No option of its benchmark writes when requests were sent."""
    file = str(case / "k15_sglang_details.jsonl")
    assert main(["calibrate", file]) == 2
    said = capsys.readouterr().err
    assert "SGLang" in said
    assert "--output-details" not in said
    assert main(["import", file]) == 0
    assert "newer versions" not in capsys.readouterr().out
