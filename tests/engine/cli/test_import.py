"""`import` keeps its contract: one JSON object, true counts, a CSV that reads back."""

import json

import pytest

from engine import read_trace
from engine.cli import main

FIELDS = {
    "format", "rows_in", "rows_kept", "set_aside", "part", "time_unit", "span_s", "rate",
    "distinct_arrivals", "ties", "largest_burst", "over_memory", "measured", "notes", "remarks",
}  # fmt: skip
BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n5,GPT-4,1,2,3,API log\n"
    "45,ChatGPT,100,0,100,API log\n15,GPT-4,7,8,15,API log\n"
)


@pytest.fixture
def burst(tmp_path):
    path = tmp_path / "burst.csv"
    path.write_text(BURST)
    return str(path)


def ask(capsys, *arguments):
    assert main(["import", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_report(capsys, burst):
    """Every field, with the right numbers; over_memory is null unless M is given."""
    report = ask(capsys, burst)
    assert set(report) == FIELDS
    assert report["format"] == "BurstGPT trace"
    assert (report["rows_in"], report["rows_kept"]) == (4, 3)
    assert report["set_aside"] == {"Response tokens is not above 0: the request failed": 1}
    assert (report["time_unit"], report["span_s"], report["rate"]) == ("s", 10, 0.2)
    assert (report["distinct_arrivals"], report["ties"], report["largest_burst"]) == (2, 1, 2)
    assert report["over_memory"] is None
    assert ask(capsys, burst, "--memory", "15")["over_memory"] == 1
    assert ask(capsys, burst, "--memory", "14")["over_memory"] == 2


def test_output_reads_back(capsys, burst, tmp_path):
    """Sorted, in seconds from 0, with its classes."""
    out = tmp_path / "out.csv"
    ask(capsys, burst, "-o", str(out))
    workload, report = read_trace(out)
    assert report.format == "canonical CSV"
    assert workload.arrival.tolist() == [0, 0, 10]
    assert workload.prompt.tolist() == [472, 1, 7]
    assert workload.classes == ("Conversation log", "API log")


def test_thinning(capsys, burst):
    """What a window and a sample leave out is counted."""
    report = ask(capsys, burst, "--window", "0:10")
    assert report["rows_kept"] == 2
    assert report["rows_in"] == report["rows_kept"] + sum(report["set_aside"].values())
    assert ask(capsys, burst, "--window", "5:")["rows_kept"] == 1
    assert ask(capsys, burst, "--sample", "1")["rows_kept"] == 3
    assert ask(capsys, burst, "--jitter")["ties"] == 0
    assert ask(capsys, burst)["part"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--window=0:10"], "0\u202fs to 10\u202fs"),
        (["--window=5:"], "from 5\u202fs on"),
        (["--window=-5:1e300", "--jitter"], "from 0\u202fs on, arrivals spread within their bins"),
        (["--sample=0.99999"], "100.0\u202f% of the requests"),
        (["--sample=0.5", "--seed=3"], "1 in 2 requests"),
    ],
)
def test_part_is_told(capsys, burst, arguments, told):
    """In words, in both formats; ends beyond the trace are none."""
    assert ask(capsys, burst, *arguments)["part"] == told
    assert main(["import", burst, *arguments]) == 0
    assert f"only {told}\n" in capsys.readouterr().out


def test_time_unit_and_mapping(capsys, tmp_path):
    """Reach the reader."""
    path = tmp_path / "log.tsv"
    path.write_text("when\tsize\tdone\n1000\t5\t6\n3000\t7\t8\n")
    report = ask(
        capsys, str(path), "--map", "arrival=when", "--map", "prompt=size", "--map", "output=done",
        "--time-unit", "ms",
    )  # fmt: skip
    assert (report["rows_kept"], report["span_s"], report["time_unit"]) == (2, 2, "ms")


def test_guesses_can_be_changed(capsys, tmp_path):
    """The unit of measured times, a column that is misunderstood, a sum for the prompt."""
    path = tmp_path / "log.csv"
    path.write_text(
        "ts,input_tokens,cache_read_input_tokens,output_tokens,latency,state\n"
        "0,10,90,5,900,good\n1,10,90,5,900,failed\n2,10,90,5,900,good\n"
    )
    report = ask(capsys, str(path), "--memory", "104")
    assert (report["rows_kept"], report["over_memory"]) == (2, 2)
    assert any("latency is read in seconds" in note for note in report["notes"])
    assert any("is the unit right?" in note for note in report["notes"])
    report = ask(capsys, str(path), "--duration-unit", "ms", "--ignore", "state")
    assert report["rows_kept"] == 3
    assert not any("is the unit right?" in note for note in report["notes"])
    alone = ask(capsys, str(path), "--memory", "104", "--map", "prompt=input_tokens")
    assert alone["over_memory"] == 0
    names = "prompt=input_tokens+cache_read_input_tokens"
    assert ask(capsys, str(path), "--memory", "104", "--map", names)["over_memory"] == 2


def test_table(capsys, burst):
    """For people: counts, rate, what was set aside."""
    assert main(["import", burst, "--memory", "14"]) == 0
    out = capsys.readouterr().out
    assert "BurstGPT trace: 3 of 4 rows kept" in out
    assert "2 need more than M = 14" in out
    assert "1 of 4 rows set aside: Response tokens" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "missing.csv: there is no such file"),
        (["FILE", "--strict"], "burst.csv: row 3 (line 4 of the file), Response tokens: must be"),
        (["FILE", "--memory", "0"], "memory M (tokens) must be a whole number"),
        (["FILE", "--time-unit", "days"], "--time-unit"),
        (["FILE", "--map", "prompt"], "--map must look like prompt=NAME"),
        (["FILE", "--map", "size=Model"], "--map must look like prompt=NAME"),
        (["FILE", "--map", "prompt=Tokens"], "there is no Tokens to be the prompt"),
        (["FILE", "--ignore", "Tokens"], "there is no Tokens to ignore"),
        (["FILE", "--duration-unit", "ms"], "have a unit: it cannot be set"),
        (["FILE", "--window", "5"], "--window must look like 0:600"),
        (["FILE", "--window", "a:b"], "--window must look like 0:600"),
        (["FILE", "--window", "20:30"], "no request is left: all 3 are outside the window"),
        (["FILE", "--window", "nan:3"], "the window must end after it begins"),
        (["FILE", "--sample", "2"], "the share of a sample must be a number from 0 to 1"),
        (["FILE", "--seed", "-1"], "--seed must be"),
        (["FILE", "-o", "no/such/folder/x.csv"], "cannot write no/such/folder/x.csv"),
    ],
)
def test_bad_input(capsys, burst, arguments, message):
    """One line on stderr, nothing on stdout, exit 2."""
    arguments = [burst if word == "FILE" else word for word in arguments]
    assert main(["import", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_mooncake_trace(capsys, shared):
    """The real file: nothing lost, nothing cut, ties said."""
    trace = shared / "traces" / "mooncake_conversation_trace.jsonl"
    report = ask(capsys, str(trace), "--memory", "8192")
    assert (report["rows_in"], report["rows_kept"], report["set_aside"]) == (12_031, 12_031, {})
    assert (report["over_memory"], report["distinct_arrivals"]) == (5_570, 1_180)
    assert report["time_unit"] == "ms"
