"""Compare: what a newcomer is told, and a bound at a click where none is quick."""

from dataclasses import replace

import plotly.graph_objects as go

from engine import InputError
from engine.measure.metrics import METRICS
from pages.parts import jobs, runs
from tests.services.opened_page import open_page, press, said

CHATS = {"from": "chat-assistant", "seed": "71"}  # of no other test: nothing is kept of it


def test_what_is_soon_done_comes_unasked():
    """The bound that the headline lacks, and the headroom of the best policy."""
    at = open_page(**CHATS)
    assert "from the best possible" in at.markdown[0].value
    assert "carries" in said(at)
    assert not [b for b in at.button if b.label.startswith(("How far from the best", "Run "))]


def test_a_bound_that_takes_longer_is_offered(monkeypatch):
    """One click, and the headline says how far the best run is from the best possible."""
    monkeypatch.setattr(jobs, "SOON", 0.0)
    at = open_page(**CHATS | {"seed": "72"})
    assert "no certified bound" in at.markdown[0].value
    press(at, "How far from the best")
    assert "from the best possible" in at.markdown[0].value
    assert not any(b.label.startswith("How far from the best") for b in at.button)


def test_what_failed_is_not_begun_again(monkeypatch):
    """Its error is told once; after that it is a button."""

    def fail(*_args):
        raise InputError("no headroom today")

    monkeypatch.setattr(runs, "headroom_in_words", fail)
    at = open_page(**CHATS | {"seed": "73"})
    assert "no headroom today" in at.error[0].value
    at.run()
    assert not at.error
    assert [b for b in at.button if b.label.startswith("Run the headroom")]


def test_a_newcomer_is_told_about_this_very_view():
    """The sentence has the view's numbers; it goes away with the first change."""
    at = open_page()
    assert "**New here?** 2\u202f000 requests wait" in said(at)
    assert "holds 16\u202f492 tokens" in said(at)
    at.number_input(key="n").set_value(100).run()
    assert "New here?" not in said(at)


def test_a_new_metric_is_on_the_page(monkeypatch):
    """One more row of the table of metrics is a column of the league."""
    row = replace(METRICS["p90_latency"], name="p95_latency", title="P95")
    monkeypatch.setitem(METRICS, row.name, row)
    at = open_page(n="41")
    assert "P95" in at.dataframe[0].value.columns


def test_a_chart_of_equal_data_is_drawn_once(monkeypatch):
    """By whomever it is looked at; on another axis it is another chart."""
    axes = []

    def draw_cdf(*arguments):
        axes.append(arguments[-1])
        return go.Figure()

    monkeypatch.setattr("engine.figures.cdf.draw_cdf", draw_cdf)
    view = {"n": "61", "seed": "73"}
    at = open_page(**view)
    open_page(**view)
    assert axes == [False]
    at.toggle(key="log").set_value(True).run()
    at.toggle(key="log").set_value(False).run()
    assert axes == [False, True]
