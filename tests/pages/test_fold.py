"""What is folded away is not built, and counts all the same."""

import pytest

from engine import InputError
from tests.services.opened_page import FOLDS, open_page

LINK = {
    "n": "60", "seed": "3", "clock": "llama-2-70b-a100-tp4", "c1": "200", "predict": "bucket",
    "max_model_len": "20000", "vllm.watermark": "0.02", "classic": "mc-sf", "provable": "",
    "slo_ttft": "2",
}  # fmt: skip


def folded(at, key):
    return not [control for control in at.number_input if control.key == key]


@pytest.mark.parametrize("path", ["app.py", "pages/2_Latency.py"])
def test_folds_change_nothing_of_what_is_shown(path):
    """A link says the same to who has all folds closed as to who has all of them open."""
    closed, unfolded = open_page(path, folds=(), **LINK), open_page(path, **LINK)
    assert folded(closed, "vllm.watermark")
    assert not folded(unfolded, "vllm.watermark")
    assert closed.query_params == unfolded.query_params
    assert [text.value for text in closed.main.markdown] == [
        text.value for text in unfolded.main.markdown
    ]
    assert closed.main.dataframe[-1].value.equals(unfolded.main.dataframe[-1].value)


def test_what_was_set_in_a_fold_stays_when_it_is_closed_and_opened_again():
    at = open_page(n="60")
    at.number_input(key="vllm.watermark").set_value(0.05).run()
    for is_open in (False, False, True):
        at.session_state["fold Policy parameters"] = is_open
        at.run()
        assert folded(at, "vllm.watermark") is not is_open
        assert at.query_params["vllm.watermark"] == "0.05"
    assert at.number_input(key="vllm.watermark").value == 0.05


def test_to_open_a_fold_stops_no_work():
    """While a job runs the browser opens folds by itself: they have no id to report."""
    at = open_page(n="60", folds=())
    assert folds_that_report(at) == set(FOLDS) - {"Round times", "Service-level objectives (SLO)"}
    at.session_state["asked"] = {"one": Endless()}
    at.run()
    assert folds_that_report(at) == set()
    assert not folded(at, "vllm.watermark")


class Endless:
    """A job that is never done, nor begun here."""

    is_done, key, title = False, "endless", "endless"

    def result(self, progress):
        raise InputError("stopped by the test")


def folds_that_report(at):
    """The labels of the folds whose opening draws the page again."""
    reporting, waiting = set(), [at.sidebar]
    while waiting:
        part = waiting.pop()
        waiting += getattr(part, "children", {}).values()
        if part.type in ("expander", "popover"):
            fold = part.proto if part.type == "expander" else part.proto.popover
            reporting |= {fold.label} if fold.id else set()
    return reporting
