"""The pages as a visitor gets them, without a browser."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine import Scenario, find_policy, generate
from engine.machine.hardware import find_preset
from tests.services.benchmark_result import benchmark_result
from tests.services.reading import read

ROOT = Path(__file__).resolve().parents[2]
CAPACITY = "pages/4_Capacity.py"
GAP = "pages/3_Gap_to_Bound.py"
SAVED = "pages/5_Saved.py"
AUDIT = "pages/7_Trace_Audit.py"
FOLDS = (
    "More", "Round times", "Predicted outputs", "Servers and clients", "Policies",
    "Policy parameters", "M from a GPU's memory", "Service-level objectives (SLO)",
)  # fmt: skip
GPU = {"clock": "llama-2-70b-a100-tp4"}


def open_page(path="app.py", *, seconds=60, secrets=None, folds=FOLDS, **query):
    """The page as a fresh visitor with this link gets it, within so many seconds.

    One who opens all folds at once, unless only some are to be open.
    """
    at = AppTest.from_file(ROOT / "app.py", default_timeout=seconds)
    at.session_state["unfolded"] = dict.fromkeys(folds, True)
    for name, value in (secrets or {}).items():
        at.secrets[name] = value
    if path != "app.py":
        at.switch_page(path)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception, at.exception
    return at


def said(at):
    elements = [*at.markdown, *at.caption, *at.error, *at.info]
    return read(" ".join(element.value for element in elements))


def toasts(at):
    return " ".join(toast.value for toast in at.toast)


def save(at, name):
    """Keep what is in view under this name."""
    at.text_input(key="save name").set_value(name).run()
    return press(at, "Save this view")


def press(at, label):
    (button,) = [button for button in at.button if label in button.label]
    button.click().run()
    assert not at.exception, at.exception
    return at


def charts(at):
    """Every chart of the page."""
    return at.get("plotly_chart")


def headline(at):
    """The sentence that a page opens with."""
    (told,) = [text.value for text in at.markdown if text.value.startswith("# ")]
    return told


def open_audit(name, content, **query):
    """The page of a visitor who has dropped this file."""
    at = open_page(AUDIT, **{"from": "upload", **query})
    at.file_uploader[0].upload(name, content).run()
    assert not at.exception, at.exception
    return at


def vllm_result(n=40):
    """A run of vllm as its benchmark would have written it."""
    workload = generate(Scenario(n=n, arrivals="poisson", rate=2.0))
    run = find_policy("vllm").run(workload, 16_492, clock=find_preset(GPU["clock"]).clock)
    return json.dumps(benchmark_result(run)).encode()
