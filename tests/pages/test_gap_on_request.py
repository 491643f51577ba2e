"""Gap to bound: what is told unasked, and what comes at a click."""

import pytest

from engine import Choice, Deployment, Experiment, InputError, Scenario
from pages.parts.gap import sensitivity as gap_sensitivity
from pages.parts.store import store
from pages.parts.view import View
from tests.services.opened_page import GAP, charts, open_page, press, said


def test_a_job_that_fails_says_why():
    """The message of a refused bound is shown, and the page can be used."""
    at = open_page("pages/3_Gap_to_Bound.py", n="45", memory="4096", seed="1")
    offers = [button for button in at.button if "exact optimum" in button.label]
    offers[0].click().run()
    assert not at.exception
    assert "integer program would have" in at.error[0].value


def test_gap_page_splits_the_gaps_unasked():
    """What the best run loses by is told beside the chart, and each bound in words."""
    told = said(open_page(GAP))
    assert "The gap of **svf**, 9.5\u202f%, comes to" in told
    assert "from idle memory" in told
    assert "Pours the requests through memory like water" in told
    assert "every schedule, also one that preempts" in told


def test_search_narrows_the_gap(monkeypatch):
    """The best schedule found joins the chart and the headline, and its story is drawn."""
    monkeypatch.setattr("pages.parts.gap.search.BUDGET", 0.3)
    at = open_page(GAP, n="60", memory="4096")
    before = len(charts(at))
    press(at, "Search for better schedules")
    assert "**best-found" in at.markdown[0].value
    assert len(charts(at)) == before + 1
    assert not [button for button in at.button if "Search" in button.label]


def test_a_stopped_search_keeps_what_it_found(monkeypatch):
    """What was found before Cancel is in the headline, and the search can go on."""
    monkeypatch.setattr("pages.parts.gap.search.BUDGET", 0.31)

    def stopped(_story):
        raise InputError("stopped")

    monkeypatch.setattr("pages.parts.gap.search._draw_live", stopped)
    at = open_page(GAP, n="60", memory="4096")
    press(at, "Search for better schedules")
    at.run()
    assert "Search on" in [button.label for button in at.button]


def test_nothing_to_search_where_the_best_is_proved():
    """30 requests that nearly fit at once: fcfs meets the bound."""
    at = open_page(GAP, n="30")
    assert "fcfs meets a bound" in said(at)
    assert not [button for button in at.button if "Search" in button.label]


def test_price_bound_shows_its_climb():
    """Asked for, it joins the table and its history is drawn."""
    at = open_page(GAP, n="60")
    before = len(charts(at))
    press(at, "Run Price bound, LP relaxation")
    assert len(charts(at)) == before + 1
    assert "prices" in at.dataframe[0].value.columns
    assert "**prices** rose by" in said(at)


def test_other_situations_come_on_request():
    """Three small multiples for a mix, each with who is nearest at its ends."""
    at = open_page(GAP, n="24")
    before = len(charts(at))
    press(at, "Try other situations")
    assert len(charts(at)) == before + 3
    assert said(at).count("is nearest: +") == 3


def test_cancelled_series_keeps_its_points():
    """A report that raises, as Cancel does, stops a series after the points that are done."""
    scenario = Scenario(n=20, seed=9)
    view = View("", Experiment(scenario, Deployment(5000), (Choice("svf"),)))
    series = gap_sensitivity._series(view)["requests"]

    def cancel(share, _told=""):
        if share > 0.41:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gap_sensitivity._job(view, "requests", series).result(cancel)
    assert [p.value for p in gap_sensitivity._points(series)] == [2, 5]
    assert not gap_sensitivity._job(view, "requests", series).is_done


def test_written_out_requests_vary_in_memory_only():
    """There is no other number or mix of six given requests."""
    at = open_page(GAP, **{"from": "six-identical"})
    before = len(charts(at))
    press(at, "Try other situations")
    assert len(charts(at)) == before + 1


def test_exact_optimum():
    """Solved for six requests, with its state; not offered for two thousand."""
    store.clear()  # another test may have solved it
    at = press(open_page(GAP, **{"from": "six-identical"}), "Solve for the exact optimum")
    assert "No schedule without preemption is below 36 rounds" in said(at)
    assert "proved optimality" in said(at)
    assert "here are 2\u202f000" in said(open_page(GAP))


def test_proof_to_take_away():
    """Both files, and the command that checks the one on the other."""
    at = open_page(GAP)
    labels = {button.proto.label for button in at.get("download_button")}
    assert labels >= {"Certificate (JSON)", "Requests (CSV)"}
    assert "engine verify certificate.json requests.csv" in at.code[0].value
