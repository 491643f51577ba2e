"""Trace audit: a day against the best possible, and the server that served it."""

import pytest

from engine import ROUNDS, Choice, Deployment, Experiment, Scenario, generate
from engine.audit import AuditPlan, cut
from engine.audit.judge import default_methods
from pages.parts.audit import windows as audit_windows
from pages.parts.store import store
from pages.parts.view import View
from tests.services.opened_page import (
    AUDIT,
    GPU,
    charts,
    open_audit,
    open_page,
    press,
    said,
    vllm_result,
)


def day_csv(n=200, rate=0.3):
    """A day of the default mix as a canonical CSV."""
    day = generate(Scenario(n=n, arrivals="poisson", rate=rate))
    rows = zip(day.arrival, day.prompt, day.output, strict=True)
    return ("arrival,prompt,output\n" + "".join(f"{a},{s},{o}\n" for a, s, o in rows)).encode()


def test_audit_says_how_far_the_day_was():
    """A small trace is audited at once, or on request: windows, interval, report."""
    at = open_audit("day.csv", day_csv(), window="50")
    if asked := [button for button in at.button if "Audit the trace" in button.label]:
        asked[0].click().run()
    assert "interval" in at.markdown[0].value
    assert "from the best possible" in at.markdown[0].value
    assert "4 of 4 windows were judged" in said(at)
    labels = [button.proto.label for button in at.get("download_button")]
    assert "Report (HTML)" in labels
    assert len(charts(at)) == 4  # with the arrivals in the sidebar


def test_audit_of_measured_latencies_and_calibration():
    """A benchmark result: measured in seconds, its round times found and used."""
    store.clear()  # another test may have calibrated the same
    content = vllm_result(n=41)
    at = open_audit("bench.json", content)
    assert "take a GPU as the clock" in said(at)
    at = open_audit("bench.json", content, window="20", **GPU)
    if asked := [button for button in at.button if "Audit the trace" in button.label]:
        asked[0].click().run()
    assert "The measured schedule was at most" in at.markdown[0].value
    press(at, "Calibrate round times")
    assert "--coefficients c0=0.0372," in at.code[0].value
    at.number_input(key="c0").set_value(99.0).run()
    press(at, "Use these round times")
    assert at.number_input(key="c0").value == pytest.approx(37.2)


def test_audit_what_if():
    """Twice the load: both days side by side, and the other day's requests to download."""
    at = open_audit("day.csv", day_csv(rate=0.05), load_times="2", long_times="0.5")
    assert "would have a mean latency of" in said(at)
    assert "Mean, what if" in [name for table in at.dataframe for name in table.value.columns]
    at.slider(key="load_times").set_value(1.0).run()
    at.slider(key="long_times").set_value(1.0).run()
    assert "Move a slider" in said(at)


def test_audit_reads_arrivals_in_another_unit():
    """One click: the same stamps as milliseconds are a thousand times as dense."""
    lines = [f"{50 * number},10,5" for number in range(150)]
    content = "\n".join(["request_time,num_prompt_tokens,num_output_tokens", *lines]).encode()
    at = open_audit("log.csv", content, **GPU)
    assert "0.0200 a second" in said(at)
    press(at, "milliseconds")
    assert at.selectbox(key="time_unit").value == "ms"
    assert "20 a second" in said(at)
    press(at, "as the file says")
    assert "0.0200 a second" in said(at)


def test_audit_of_a_closed_loop():
    """Has no bound: the page says why."""
    at = open_page(AUDIT, clients="4")
    assert "closed loop" in at.error[0].value
    assert "cannot be audited" in at.error[0].value


def test_cancelled_audit_keeps_its_windows():
    """A report that raises stops it after the windows that are done."""
    workload = generate(Scenario(n=60, arrivals="poisson", rate=0.1, seed=11))
    view = View("", Experiment(workload, Deployment(16_492), (Choice("svf"),)))
    windows = cut(workload, 16_492, 10)
    plan = AuditPlan(view.deployment, view.choices, default_methods(ROUNDS))
    chosen = audit_windows.WindowChoice(view, plan, windows, windows, 0, 0, None)

    def cancel(share, _told=""):
        if share > 0.4:
            raise KeyboardInterrupt

    assert chosen.audit is None
    with pytest.raises(KeyboardInterrupt):
        chosen.job.result(cancel)
    assert len(chosen.audit.judged) == 3
    assert not chosen.job.is_done
