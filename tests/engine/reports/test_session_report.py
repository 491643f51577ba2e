"""The report holds what the pages show, in one file that needs nothing else."""

import re
from xml.etree import ElementTree

import pytest

from engine import (
    Choice,
    Deployment,
    Experiment,
    Scenario,
    Workload,
    compare,
    find_policy,
)
from engine.admission_limits import AdmissionLimits
from engine.cli import main
from engine.fleet import ONE_SERVER, Topology
from engine.measure.league import headline, league, written_table
from engine.reports.session_report import session_report
from engine.saved import facts_of
from engine.version import version
from tests.services.opened_page import open_page

LINK = "http://localhost:8501/?n=200&provable=svf"


def report(scenario=Scenario(n=200), topology=ONE_SERVER, methods=("fluid",), link=LINK):  # noqa: B008
    choices = (Choice("svf"), Choice("vllm"))
    experiment = Experiment(scenario, Deployment(16_492, topology=topology), choices)
    comparison = compare(experiment, methods)
    entries, facts = comparison.league, facts_of(experiment)
    return entries, session_report(str(scenario), facts, entries, comparison.bounds, link)


def tables(html):
    """The cells of every table, row by row, the header first."""
    parsed = map(ElementTree.fromstring, re.findall(r"<table.*?</table>", html, re.DOTALL))
    return [[[cell.text or "" for cell in row] for row in table.iter("tr")] for table in parsed]


def test_it_holds_the_view():
    """The answer, both policies, gaps, facts, versions and the link; live charts, one library."""
    entries, html = report()
    assert headline(entries).replace("**", "") in re.sub(r"</?b>", "", html)
    for told in ("svf", "vllm", "16\u202f492", "80 % short / 20 % long", version(), "numpy"):
        assert told in html
    assert 'href="http://localhost:8501/?n=200&amp;provable=svf"' in html
    assert html.count("Plotly.newPlot(") == 3
    assert html.count("<script") < 10
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="http', html)
    assert len(html) < 10_000_000


def test_overload_and_missing_bounds_are_said():
    """No latency of an overloaded run stands as if it were one of a steady state."""
    _, html = report(Scenario(n=300, arrivals="poisson", rate=3), methods=(), link="")
    assert "svf and vllm: Overloaded" in html
    assert "No bound was computed." in html
    assert "The same in the dashboard" not in html


def test_its_tables_hold_the_counts_and_the_league():
    """Who is set aside by reason, gave up, was turned away and served; one row a policy."""
    limits = AdmissionLimits(patience=2, queue_limit=3, max_model_len=8)
    workload = Workload([0.0] * 10, [3] * 8 + [20, 5], [4] * 8 + [1, 6], admission_limits=limits)
    experiment = Experiment(workload, Deployment(14), (Choice("svf"), Choice("vllm")))
    comparison = compare(experiment, [])
    entries = comparison.league
    html = session_report("ten", {}, entries, [], LINK)
    requests, told, *_ = tables(html)
    run = entries[0].run
    gave_up = int(run.unserved.gave_up.sum())
    counts = [10, 0, 2, gave_up, len(run.unserved) - gave_up, len(run.workload)]
    assert [row[1] for row in requests[1:]] == list(map(str, counts))
    assert sum(counts[1:]) == counts[0]
    assert 0 < gave_up < len(run.unserved)
    written = written_table(entries)
    assert told[0] == list(written.columns)
    assert told[1:] == [list(map(str, row)) for row in written.itertuples(index=False)]
    assert [row[0] for row in told[1:]] == [entry.label for entry in entries]


def test_servers():
    """Several: the memory of the first is shown and called so."""
    _, html = report(topology=Topology(3))
    assert "on the first of 3 servers" in html


def test_texts_are_escaped():
    """A name is no markup."""
    entries, _ = report()
    html = session_report("<script>alert(1)</script>", {"trace": "<b>x</b>"}, entries, [])
    assert "<script>alert(1)" not in html
    assert "<b>x</b>" not in html


def test_nothing_of_a_name_is_markup():
    """Not in words, nor in charts, nor in what charts are made of; no address becomes a link."""
    name = "**b** http://evil.test/a <a href='http://evil.test'>x</a></script><script>boom()"
    workload = Workload([0.0, 0.0], [5, 5], [5, 5], classes=(name,))
    entries = league([find_policy("svf").run(workload, 100)], [])
    html = session_report(f"# {name}", {name: name}, entries, [], LINK)
    assert "<script>boom" not in html
    words = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert re.findall(r'<a href="([^"]*)', words) == [
        "http://localhost:8501/?n=200&amp;provable=svf"
    ]
    assert "<p># **b** http://evil.test/a &lt;a" in html
    # A chart would make a tag of it, had it come as a name does.
    assert "\\u003ca href" not in html


def test_command(tmp_path, capsys):
    """A mix or a trace, on either clock; nothing on stdout."""
    page = tmp_path / "page.html"
    usual = ["--memory", "16492", "--policy", "svf", "--policy", "vllm", "-o", str(page)]
    assert main(["report", "--n", "150", *usual]) == 0
    assert "Poisson at rate 0.08" in page.read_text()
    trace = tmp_path / "mine.csv"
    trace.write_text("arrival,prompt,output\n" + "0,9,5\n" * 6)
    hardware = ["--clock", "seconds", "--hardware", "llama-2-70b-a100-tp4"]
    assert main(["report", str(trace), *usual, *hardware]) == 0
    assert "mine.csv" in page.read_text()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--n", "150", "-o", "absent/page.html"], "no folder"),
        (["--n", "150"], "--output"),
        (["--n", "150", "-o", "page.html", "--bound", "moon"], "moon"),
        (["--n", "150", "-o", "page.html", "--policy", "moon"], "unknown policy moon"),
    ],
)
def test_bad_arguments(arguments, says, capsys):
    """One sentence, exit 2."""
    assert main(["report", "--memory", "16492", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_page_hands_it_out():
    """Report and JSON stand beside Save."""
    at = open_page(n="120")
    labels = [element.label for element in at.get("download_button")]
    assert {"Report (HTML)", "This view (JSON)"} <= set(labels)
