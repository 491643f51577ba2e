"""The Uncertainty page, and predictions in the sidebar of every page."""

import numpy as np
import pytest

from engine import Scenario, generate
from engine.demand.predictions import Interval, with_predictions
from engine.traces import write_csv
from tests.services.opened_page import open_page, said

PAGE = "pages/6_Uncertainty.py"
SMALL = {"n": "150", "arrivals": "poisson", "rate": "0.3"}
ONE_EACH = {"classic": "", "provable": "svf", "deployed": "vllm", "ours": ""}


def button(at, label):
    (found,) = [each for each in at.button if label in each.label]
    return found


def test_it_opens_with_its_answer():
    """A sentence, one chart, one table; a policy that is told nothing is always there."""
    at = open_page(PAGE, **SMALL, **{**ONE_EACH, "deployed": ""})
    assert at.markdown[0].value.startswith("# **svf** has the lowest mean latency")
    assert len(at.get("plotly_chart")) == 1
    assert at.dataframe[0].value["Policy"].tolist() == ["vllm", "svf"]
    assert "of 150 requests" in said(at)


def test_more_draws_give_bands():
    """Each draw is a job of its own; when all are done the button is gone."""
    at = open_page(PAGE, **{**SMALL, "n": "600"}, **ONE_EACH)
    assert "1 draw of 600 requests" in said(at)
    button(at, "Draw more, for bands").click().run(timeout=60)
    assert not at.exception
    assert "10 draws, 95 % bands of means" in said(at)
    assert not [each for each in at.button if "Draw more" in each.label]


@pytest.mark.parametrize("axis", ["bias", "width", "margin"])
@pytest.mark.parametrize("metric", ["preemptions", "wasted", "gap"])
def test_every_axis_and_metric(axis, metric):
    """A link names both; those for intervals are in a study of intervals."""
    at = open_page(PAGE, axis=axis, wrong=metric, **SMALL, **ONE_EACH)
    assert not at.error
    assert at.selectbox(key="wrong").value == metric
    assert len(at.get("plotly_chart")) == 1
    policies = at.dataframe[0].value["Policy"].tolist()
    assert ("a-max" in policies and "a-min" in policies) == (axis == "width")


def test_predictions_in_the_sidebar_are_in_the_link():
    """They are in the title, judged on the page, and their margin is simulated."""
    at = open_page(PAGE, predict="lognormal", spread="0.8", axis="margin", **SMALL, **ONE_EACH)
    assert "predictions lognormal:bias=1,spread=0.8" in said(at)
    assert "The predictions in use: Over 150 requests the predictor is" in said(at)
    assert "Predictions: two in three within a factor of 2.23." in said(at)
    assert len(at.get("plotly_chart")) == 3
    at.number_input(key="spread").set_value(0.2).run()
    assert "spread=0.2" in said(at)
    assert at.query_params["spread"] == "0.2"


def test_predictions_change_the_other_pages():
    """On Compare, wrong predictions make svf preempt."""
    known = open_page(**SMALL, **ONE_EACH)
    guessed = open_page(predict="lognormal", spread="1", **SMALL, **ONE_EACH)

    def preemptions(at):
        return at.dataframe[0].value.set_index("Policy")["Preemptions"]

    assert preemptions(known)["svf"] == "0"
    assert preemptions(guessed)["svf"] != "0"
    assert preemptions(known)["vllm"] == preemptions(guessed)["vllm"]


@pytest.mark.parametrize(
    "link",
    [
        {"predict": "interval", "width": "2"},
        {"predict": "bucket", "bin": "50", "edge": "upper"},
        {"predict": "class-mean"},
        {"predict": "none"},
        {"predict": "no-such-model"},
    ],
)
def test_every_model_has_its_controls(link):
    """Each is reached by its link; one that there is not is as if it were not there."""
    at = open_page(**link, **SMALL, **ONE_EACH)
    assert not at.error
    chosen = link["predict"] if link["predict"] != "no-such-model" else "exact"
    assert at.selectbox(key="predict").value == chosen


def with_record(content, **link):
    """The page of a visitor who has brought this record."""
    at = open_page(PAGE, **link, **SMALL, **ONE_EACH)
    return at.file_uploader(key="pairs").upload("mine.csv", content, "text/csv").run()


def test_a_record_is_judged():
    """Its calibration in words and as a curve, and the margin that its errors ask for."""
    rng = np.random.default_rng(0)
    true = rng.integers(1, 500, 200)
    rows = "".join(f"{guess},{out}\n" for guess, out in zip(true // 2 + 1, true, strict=True))
    at = with_record(f"predicted,true\n{rows}".encode())
    assert not at.exception
    assert "mine.csv: Over 200 requests the predictor is too short by 2x" in said(at)
    assert len(at.get("plotly_chart")) == 3
    assert "Set a margin for **svf**" in said(at) or "needs no margin" in said(at)


def test_margins_are_for_a_record_or_for_errors_called_assumed():
    """Nobody chose a predictor: that is said, and a record that is brought takes its place."""
    at = open_page(PAGE, axis="margin", **SMALL, **ONE_EACH)
    assumed = "assumed, since none is chosen: two in three within a factor of 1.65"
    assert assumed in said(at)
    assert "lognormal" not in said(at)
    rows = "".join(f"{out // 2 + 1},{out}\n" for out in range(1, 201))
    at = with_record(f"predicted,true\n{rows}".encode(), axis="margin")
    assert not at.exception
    assert "Predictions: errors as in mine.csv." in said(at)
    bad = with_record(b"predicted,true\n1,0\n", axis="margin")
    assert assumed in said(bad)
    assert "true: must be a whole number of tokens" in bad.error[0].value


def test_a_bad_record_is_told():
    """One sentence on the page."""
    at = with_record(b"predicted,true\n1,0\n")
    assert "true: must be a whole number of tokens" in at.error[0].value


def test_a_trace_that_brings_predictions(tmp_path):
    """They are used as the trace says, and judged on the page."""
    path = tmp_path / "trace.csv"
    write_csv(with_predictions(generate(Scenario(n=80)), Interval(1.5)), path)
    at = open_page(PAGE, **{"from": "upload"}, **ONE_EACH)
    at.file_uploader[0].upload("trace.csv", path.read_bytes(), "text/csv").run()
    assert not at.exception
    assert at.selectbox(key="predict").value == "as-given"
    assert "Its intervals hold 100\u202f%" in said(at)
