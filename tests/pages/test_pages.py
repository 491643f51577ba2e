"""Every page answers, whatever the sidebar says, and says clearly what is wrong."""

import json
import socket
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import (
    POLICIES,
    ROUNDS,
    Choice,
    Deployment,
    Experiment,
    InputError,
    Scenario,
    find_policy,
    generate,
    wording,
)
from engine.audit import AuditPlan, cut
from engine.audit.judge import default_methods
from engine.capacity.objective import Objective, check_it_has_a_rate
from engine.demand.example import examples, load_example
from engine.machine.hardware import find_preset
from engine.scale_out import HERE, SCHEDULER
from engine.sweeps.heat_map import HeatMap
from engine.sweeps.parameters import find_parameter
from pages.parts.audit import windows as audit_windows
from pages.parts.capacity import map as capacity_map
from pages.parts.declared import declared_pages
from pages.parts.gap import sensitivity as gap_sensitivity
from pages.parts.view import View
from tests.services.benchmark_result import benchmark_result
from tests.services.reading import read

PATHS = [page.path for page in declared_pages()]
ROOT = Path(__file__).resolve().parents[2]
CAPACITY = "pages/4_Capacity.py"
OF_NO_SCENARIO = ("8_Learn.py", "9_About.py")


def open_page(path="app.py", **query):
    """The page as a fresh visitor with this link gets it."""
    at = AppTest.from_file(ROOT / "app.py", default_timeout=60)
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


@pytest.mark.parametrize("path", PATHS)
def test_page_opens(path):
    """Without exception or error, and with something to read."""
    at = open_page(path)
    assert not at.error
    assert len(said(at)) > 100


@pytest.mark.parametrize("path", PATHS)
def test_no_setting_of_the_link_is_in_a_popover(path):
    """Where the browser would not take its value over while the popover is closed."""
    at = open_page(path, arrivals="poisson", clock="llama-2-70b-a100-tp4")
    popovers = at.get("popover")
    assert popovers
    keys = {getattr(node, "key", None) for popover in popovers for node in popover}
    assert not keys & set(at.session_state["defaults"])


@pytest.mark.parametrize("path", [path for path in PATHS if path[6:] not in OF_NO_SCENARIO])
@pytest.mark.parametrize("key", examples())
def test_every_example_on_every_page(path, key):
    """A link names the example; every page can show it."""
    at = open_page(path, **{"from": key})
    assert not at.error
    assert at.selectbox(key="from").value == key
    if path == CAPACITY and not has_a_rate(load_example(key).workload):
        assert "Capacity is a rate" in said(at)
        return
    if path == "pages/5_Saved.py":  # shows what is kept, whatever the example
        return
    # What takes long is offered.
    assert at.get("plotly_chart") or [one for one in at.button if one.label.startswith("Run ")]


def has_a_rate(workload):
    """Whether requests come over time and are enough to judge."""
    try:
        check_it_has_a_rate(workload)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy(policy):
    """Each can be picked alone, by link, on a small instance."""
    group = POLICIES[policy].group
    others = {name: [] for name in {entry.group for entry in POLICIES.values()} - {group}}
    at = open_page(**{"from": "six-identical", group: [policy]}, **dict.fromkeys(others, ""))
    assert "6 requests" in said(at) or "Six identical" in said(at)
    assert policy in said(at)


def test_headline_is_computed():
    """On the six identical requests vllm wins by preempting."""
    at = open_page(**{"from": "six-identical"})
    assert "vllm" in at.markdown[0].value
    assert "8.3\u202f%" in at.markdown[0].value


def test_moving_memory_changes_the_answer():
    """More memory, less latency, in the metric and in the chart."""
    at = open_page()
    before, chart = at.metric[0].value, at.get("plotly_chart")[0].proto.spec
    at.number_input(key="memory").set_value(60_000).run()
    assert at.metric[0].value != before
    assert at.get("plotly_chart")[0].proto.spec != chart


@pytest.mark.parametrize(
    ("link", "chosen"),
    [
        (["svf", "svf"], ["svf"]),
        (["svf", "no-such-policy", "sorted-f"], ["svf", "sorted-f"]),
    ],
)
def test_a_link_with_odd_choices(link, chosen):
    """What stands there twice counts once, and an unknown one takes no other with it."""
    at = open_page(n="50", provable=link)
    assert not at.error
    assert at.session_state["provable"] == chosen


def test_link_reproduces_the_view():
    """Memory, number, share, arrivals, rate, seed and a policy parameter come from the link."""
    at = open_page(
        memory="20000", n="300", share="60", arrivals="poisson", rate="0.2", seed="5",
        **{"svf.skip": "5"},
    )  # fmt: skip
    told = said(at)
    assert "300 requests, 60 % short / 40 % long" in told
    assert "Poisson at rate 0.2" in told
    assert "seed 5, M = 20\u202f000" in told
    assert "svf skip=5" in told


def test_bad_link_falls_back():
    """Nonsense in a link gives the default view, not an error."""
    at = open_page(memory="banana", arrivals="never", provable="lifo", share="900")
    assert not at.error
    assert at.number_input(key="memory").value == 16_492


def test_nothing_picked():
    """Without a policy the page says what to do."""
    at = open_page(classic="", provable="", deployed="", ours="")
    assert "Pick a policy" in said(at)


def test_memory_too_small_for_all():
    """The message names the smallest M that would do."""
    at = open_page(memory="3")
    assert "no request fits in memory M = 3" in at.error[0].value


def test_story_by_link():
    """The pinned request's story is told beside the chart."""
    at = open_page(
        "pages/1_Memory_Gantt.py",
        **{"from": "six-identical", "shown": "vllm", "request": "4"},
    )
    told = said(at)
    assert "Request #4" in told
    assert "Lost its KV cache after round 4; came back at round 5" in told


def test_stepping_starts_at_the_pinned_arrival():
    """In seconds, at the round that first knows the request; a link may say another."""
    link = {"from": "chat-assistant", "shown": "svf", "request": "885", "stepping": "true"}
    at = open_page("pages/1_Memory_Gantt.py", **link)
    first = at.number_input(key="at").value
    assert f"round {wording.count(first)}" in said(at).split("is the first")[0]
    assert "Had it started at" in said(at)
    assert open_page("pages/1_Memory_Gantt.py", at="5", **link).number_input(key="at").value == 5


def test_window_the_wrong_way_round():
    """From after to is an error that says so."""
    at = open_page("pages/1_Memory_Gantt.py", begin="900", end="100")
    assert "From round must be before to round" in at.error[0].value


def test_upload():
    """A good trace is used on every page; a bad one is refused by row and field."""
    at = open_page(**{"from": "upload"})
    assert "Drop a trace" in said(at)
    good = b"arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n"
    at.file_uploader[0].upload("mine.csv", good, "text/csv").run()
    at.number_input(key="memory").set_value(10).run()
    assert not at.error
    assert "mine.csv: 3 requests" in said(at)
    at.switch_page("pages/1_Memory_Gantt.py").run()
    assert not at.exception
    assert "mine.csv: 3 requests" in said(at)
    bad = open_page(**{"from": "upload"})
    bad.file_uploader[0].upload("bad.csv", b"arrival,prompt,output\n0,5,5\n0,-2,1\n").run()
    assert "row 2" in bad.error[0].value
    assert "prompt" in bad.error[0].value


def test_upload_link_keeps_its_settings():
    """A link to an upload does not hold the trace, but all that was set for it."""
    at = open_page(**{"from": "upload"}, memory="10", round_seconds="0.5", **{"svf.skip": "3"})
    trace = b"arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n"
    at.file_uploader[0].upload("mine.csv", trace, "text/csv").run()
    assert not at.error
    assert at.number_input(key="memory").value == 10
    assert "mine.csv, 0.500 s a round, M = 10" in said(at)
    assert "svf skip=3" in said(at)


def test_what_cannot_be_done_is_not_offered():
    """sorted-f-exact takes at most 100 requests; above, the page says so and works."""
    at = open_page(n="300", provable=["svf", "sorted-f-exact"])
    assert "Not for so many requests: sorted-f-exact" in said(at)
    assert not [button for button in at.button if "sorted-f-exact" in button.label]


def test_a_job_that_fails_says_why():
    """The message of a refused bound is shown, and the page can be used."""
    at = open_page("pages/3_Gap_to_Bound.py", n="45", memory="4096", seed="1")
    offers = [button for button in at.button if "exact optimum" in button.label]
    offers[0].click().run()
    assert not at.exception
    assert "integer program would have" in at.error[0].value


GAP = "pages/3_Gap_to_Bound.py"


def press(at, label):
    (button,) = [button for button in at.button if label in button.label]
    button.click().run()
    assert not at.exception, at.exception
    return at


def charts(at):
    """Every chart of the page."""
    return at.get("plotly_chart")


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


def test_dear_policy_comes_on_request():
    """It is offered with its time; asked for, it joins the table."""
    n = next(n for n in (2000, 4000, 8000, 16000) if POLICIES["sorted-f-swap"].cost(n) >= 0.05)
    at = open_page(n=str(n), provable=["svf", "sorted-f-swap"])
    offers = [button for button in at.button if button.label.startswith("Run")]
    assert "sorted-f-swap" in offers[0].label
    assert "sorted-f-swap" not in at.dataframe[0].value["Policy"].tolist()
    offers[0].click().run()
    assert not at.exception
    assert "sorted-f-swap" in at.dataframe[0].value["Policy"].tolist()


def test_overload_is_not_shown_as_a_steady_state():
    """At three times the load that can be carried, the page says that latency grows."""
    at = open_page(arrivals="poisson", rate="0.3")
    assert "Overloaded" in at.warning[0].value
    assert "overloaded" in at.dataframe[0].value["Load"].tolist()


AUDIT = "pages/7_Trace_Audit.py"
GPU = {"clock": "llama-2-70b-a100-tp4"}


def open_audit(name, content, **query):
    """The page of a visitor who has dropped this file."""
    at = open_page(AUDIT, **{"from": "upload", **query})
    at.file_uploader[0].upload(name, content).run()
    assert not at.exception, at.exception
    return at


def day_csv(n=200, rate=0.3):
    """A day of the default mix as a canonical CSV."""
    day = generate(Scenario(n=n, arrivals="poisson", rate=rate))
    rows = zip(day.arrival, day.prompt, day.output, strict=True)
    return ("arrival,prompt,output\n" + "".join(f"{a},{s},{o}\n" for a, s, o in rows)).encode()


def vllm_result(n=40):
    """A run of vllm as its benchmark would have written it."""
    workload = generate(Scenario(n=n, arrivals="poisson", rate=2.0))
    run = find_policy("vllm").run(workload, 16_492, clock=find_preset(GPU["clock"]).clock)
    return json.dumps(benchmark_result(run)).encode()


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
    content = vllm_result(n=41)  # not what another test has calibrated
    at = open_audit("bench.json", content)
    assert "pick a GPU as the clock" in said(at)
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
    assert "0.0201 a second" in said(at)
    press(at, "milliseconds")
    assert at.selectbox(key="time_unit").value == "ms"
    assert "20.1 a second" in said(at)
    press(at, "as the file says")
    assert "0.0201 a second" in said(at)


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


def test_upload_error_names_the_file():
    """Not "the trace"."""
    at = open_page(**{"from": "upload"})
    at.file_uploader[0].upload("mine.csv", b"arrival,prompt,output\n0,5,0\n").run()
    assert at.error[0].value.startswith("mine.csv: row 1")


LOADED = {"n": "300", "arrivals": "poisson", "provable": "svf", "deployed": "vllm", "classic": ""}
ON_A_GPU = {**LOADED, "clock": "llama-2-70b-a100-tp4", "slo_ttft": "10", "load_s": "6"}


def headline(at):
    """The sentence that a page opens with."""
    (told,) = [text.value for text in at.markdown if text.value.startswith("# ")]
    return told


def test_capacity_says_what_to_choose():
    """A backlog has no rate; one button gives it one."""
    at = open_page(CAPACITY)
    assert "A backlog has no rate" in said(at)
    press(at, "Let them arrive over time")
    assert "serve" in headline(at)
    assert len(charts(at)) == 1


@pytest.mark.parametrize("link", [LOADED, ON_A_GPU])
def test_capacity_opens_with_its_answer(link):
    """Who serves how much, in both clocks, with the servers and, in seconds, the cost."""
    at = open_page(CAPACITY, **link)
    assert "serve" in headline(at)
    table = at.dataframe[0].value
    assert set(table["Policy"]) == {"svf", "vllm"}
    assert ("USD a million output tokens" in table) == (link is ON_A_GPU)
    assert [column for column in table if column.startswith("Servers for")]


def test_capacity_under_limits_nobody_keeps():
    """No rate is given, and the page says why."""
    at = open_page(CAPACITY, **{**ON_A_GPU, "slo_ttft": "0.001"})
    assert "no rate to give" in headline(at)
    assert at.dataframe[0].value.iloc[0, 1] == "none"


def test_capacity_limits_of_one_class():
    """From the link; they lower what is carried."""
    tight = open_page(CAPACITY, **ON_A_GPU, **{"slo_ttft.short": "0.5"})
    loose = open_page(CAPACITY, **ON_A_GPU)
    rates = [float(at.dataframe[0].value.iloc[0, 1]) for at in (tight, loose)]
    assert rates[0] < rates[1]


def test_capacity_day_levers_and_map_on_request():
    """Each joins the page with its chart or table, coarse cells and all."""
    at = open_page(CAPACITY, **{**ON_A_GPU, "side": "10", "n": "2000", "peak_s": "3"})
    press(at, "Try what a tenth more buys")
    assert "more M" in said(at)
    press(at, "Map M (tokens)")
    assert "100 of 100 cells are done" in said(at)
    assert "**svf** keeps within the limits in" in said(at)
    press(at, "Plan the day")
    assert "server-hours" in said(at)
    assert len(charts(at)) == 4


def test_a_cell_becomes_the_scenario():
    """The sidebar takes its values over and the map stays as it was computed."""
    at = open_page(CAPACITY, **{**LOADED, "side": "10", "n": "120"})
    press(at, "Map M (tokens)")
    at.session_state["column"], at.session_state["row"] = 3, 2
    at.run()
    press(at, "Open this cell as the scenario")
    assert at.number_input(key="rate").value == pytest.approx(0.0635, rel=0.01)
    assert at.number_input(key="memory").value == pytest.approx(11_220, rel=0.01)
    assert "100 of 100 cells are done" in said(at)


def draw_map(at):
    next(button for button in at.button if button.label.startswith("Map ")).click().run()


def test_no_visitor_names_a_scheduler(monkeypatch):
    """Its answers are unpickled: neither a link nor any field of the page makes us connect."""
    monkeypatch.delenv(SCHEDULER, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"tcp://127.0.0.1:{stranger.getsockname()[1]}"
        names = ("scheduler", "scheduler kept", "Dask scheduler", "dask", "on", "where", SCHEDULER)
        at = open_page(
            CAPACITY, arrivals="poisson", n="150", side="10", **dict.fromkeys(names, address)
        )
        for field in [*at.text_input, *at.text_area]:
            field.set_value(address)
        draw_map(at.run())
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has come
            stranger.accept()
    assert "100 of 100 cells are done" in said(at)


def test_a_scheduler_that_is_absent_is_told(monkeypatch):
    """One of the server's environment; the map says why it is not drawn."""
    at = open_page(CAPACITY, arrivals="poisson", n="140", side="10")
    monkeypatch.setenv(SCHEDULER, "tcp://127.0.0.1:9")
    draw_map(at.run())
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in read(at.error[0].value)


def test_cancelled_map_keeps_its_cells():
    """A report that raises, as Cancel does, stops a portion after the cells that are done."""
    scenario = Scenario(n=120, arrivals="poisson", seed=9)
    stands = Experiment(scenario, Deployment(16_492), (Choice("svf"),))
    across, up = find_parameter(stands, "rate"), find_parameter(stands, "memory")
    drawn = HeatMap(stands, across, up, (0.05, 0.1), (9000, 20_000), Objective())
    *_, last = capacity_map._jobs(drawn, HERE)

    def cancel(share, _told=""):
        if share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        last.result(cancel)
    assert set(capacity_map._cells(drawn)) == {(1, 0), (0, 1)}
    assert not last.is_done
