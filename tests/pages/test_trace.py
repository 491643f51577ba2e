"""A trace on the pages: its columns can be corrected, a part of it picked, and links keep both."""

from datetime import datetime, timedelta

import pytest

from tests.services.opened_page import AUDIT, GPU, charts, open_audit, open_page, said


def azure_like(n=400, every=30.0):
    """Requests at a steady pace over a few hours, in Azure's layout."""
    first = datetime(2023, 11, 16, 13, 59, 59)
    rows = [f"{first + timedelta(seconds=every * i):%Y-%m-%d %H:%M:%S.%f},{100 + i},5"
            for i in range(n)]  # fmt: skip
    return "\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]).encode()


def mooncake_like(n=300):
    """Ten requests at a time, every three seconds."""
    row = '{{"timestamp": {}, "input_length": 100, "output_length": 5, "hash_ids": [1]}}'
    return "\n".join(row.format(3000 * (i // 10)) for i in range(n)).encode()


def test_window_and_sample():
    """Half an hour, one request in two: said under the controls, counted in the report."""
    at = open_audit("azure.csv", azure_like(), **GPU)
    assert "azure.csv: 400 requests, 0.0333 a second" in said(at)
    start = at.selectbox(key="part_from")
    assert start.options[:3] == ["13:58", "14:00", "14:02"]
    start.set_value(1.0).run()  # seconds after 13:59:59
    at.selectbox(key="part_to").set_value(1801.0).run()
    assert not at.exception
    assert "azure.csv: 60 requests of 400, 14:00 to 14:30" in said(at)
    assert "340 of 400 rows set aside: outside the window 1:1801 s" in said(at)
    at.number_input(key="one_in").set_value(2).run()
    assert "14:00 to 14:30, 1 in 2 requests" in said(at)
    assert "the sample has 0.5 of the trace's load, too" in said(at)
    assert at.query_params["part_from"] == "1"
    assert at.query_params["part_to"] == "1801"
    assert at.query_params["one_in"] == "2"


def test_link_to_a_part():
    """Takes effect as soon as the trace is there; the same seed keeps the same requests."""
    query = {"part_from": "1", "part_to": "1801", "one_in": "2", "part_seed": "7", **GPU}
    counts = []
    for _ in range(2):
        at = open_audit("azure.csv", azure_like(), **query)
        counts += [text for text in said(at).split("azure.csv: ") if "14:00 to 14:30" in text]
        assert at.query_params["part_seed"] == "7"
    assert counts
    assert counts[: len(counts) // 2] == counts[len(counts) // 2 :]


def test_another_file_is_looked_at_whole():
    """Hours of the one before do not count; columns and unit stay, as for the next day's log."""
    at = open_audit("a.csv", azure_like(), part_from="1", part_to="1801", one_in="2", **GPU)
    assert "1 in 2 requests" in said(at)
    at.file_uploader[0].upload("b.csv", azure_like(300)).run()
    assert "b.csv: 300 requests, " in said(at)
    assert "part_from" not in at.query_params


def test_part_on_every_page():
    """Compare runs on the part, too."""
    at = open_page(**{"from": "upload"}, part_from="1", part_to="1801", **GPU)
    at.file_uploader[0].upload("azure.csv", azure_like()).run()
    assert not at.exception
    assert "60 requests of 400" in said(at)
    at.switch_page(AUDIT).run()
    assert "60 requests of 400" in said(at)


def test_jitter_is_offered_where_many_tie():
    """And nowhere else; it leaves no ties and says how wide the bins were."""
    at = open_audit("azure.csv", azure_like(), **GPU)
    assert "spread" not in [toggle.key for toggle in at.toggle]
    at = open_audit("mooncake.jsonl", mooncake_like(), **GPU)
    at.toggle(key="spread").set_value(True).run()
    assert "arrivals are spread at random within bins of 3 s" in said(at)
    facts = next(t.value for t in at.dataframe if "Trace" in t.value.columns)
    ties = facts.set_index("Trace").loc["Requests that tie with an earlier one"].item()
    assert ties == "0"


def test_a_window_to_the_end_keeps_the_last_requests():
    """Also those that are spread beyond the last moment that can be picked."""
    at = open_audit("mooncake.jsonl", mooncake_like(), part_from="60", spread="true", **GPU)
    assert "mooncake.jsonl: 100 requests of 300, from 60\u202fs on, arrivals spread" in said(at)


def test_empty_part_can_be_mended():
    """A window without requests is one sentence, and the controls are still there."""
    quiet = azure_like(20) + b"\n2023-11-16 20:00:00.0,5,5"
    at = open_audit("azure.csv", quiet, part_from="3601", part_to="3901", **GPU)
    assert "no request is left: all 21 are outside the window" in at.error[0].value
    at.selectbox(key="part_from").set_value(1.0).run()
    assert not at.error


def test_columns_of_any_table_are_picked():
    """Where no name tells, the page asks; where one misleads, it can be set right."""
    table = b"when,size,made,extra\n" + b"".join(b"%d,10,5,7\n" % i for i in range(50))
    at = open_audit("table.csv", table, **GPU)
    assert "pick it under Columns" in at.info[0].value
    at.selectbox(key="map_prompt").set_value("size").run()
    assert "which column holds the output tokens" in at.info[0].value
    at.selectbox(key="map_output").set_value("made").run()
    at.selectbox(key="map_arrival").set_value("when").run()
    assert not at.error
    assert "table.csv: 50 requests, 1 a second" in said(at)
    at.selectbox(key="map_prompt").set_value("extra").run()
    assert at.query_params["map_prompt"] == "extra"
    alts = [chart.proto.alt for chart in charts(at)]
    assert "All requests have prompt and output of 12\u202ftokens together." in alts


def test_what_was_guessed_can_be_changed():
    """A unit of measured times, asked for only where no name tells; a column left out of all."""
    header = b"ts,prompt_tokens,completion_tokens,latency,state\n"
    rows = b"".join(b"%d.5,10,5,900,%s\n" % (i, b"failed" if i % 5 == 4 else b"fine")
                    for i in range(50))  # fmt: skip
    at = open_audit("log.csv", header + rows, **GPU)
    assert "10 of 50 rows set aside: state" in said(at)
    assert "is the unit right?" in said(at)
    at.selectbox(key="duration_unit").set_value("ms").run()
    assert "is the unit right?" not in said(at)
    at.multiselect(key="ignored").set_value(["state"]).run()
    assert not at.exception
    assert "log.csv: 50 requests" in said(at)
    assert at.query_params["duration_unit"] == "ms"
    told = open_audit("log.csv", header.replace(b"latency", b"latency_ms") + rows, **GPU)
    assert not [each for each in told.selectbox if each.key == "duration_unit"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"<html>x", "x.csv: this is a web page"),
        (b"", "x.csv: the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "x.csv: this is a Git LFS pointer"),
    ],
)
def test_what_is_no_trace_is_told(content, told):
    """Once, by what it is."""
    at = open_audit("x.csv", content)
    assert told in at.error[0].value
    assert len(at.error) == 1
