"""Capacity: the rate that is carried, the day, and the map whose cells become the scenario."""

import socket

import pytest

from engine import Choice, Deployment, Experiment, Scenario
from engine.capacity.objective import Objective
from engine.scale_out import HERE, SCHEDULER
from engine.sweeps.heat_map import HeatMap
from engine.sweeps.parameters import find_parameter
from pages.parts.capacity import map as capacity_map
from tests.services.opened_page import CAPACITY, charts, headline, open_page, press, said
from tests.services.reading import read

LOADED = {"n": "300", "arrivals": "poisson", "provable": "svf", "deployed": "vllm", "classic": ""}
ON_A_GPU = {**LOADED, "clock": "llama-2-70b-a100-tp4", "slo_ttft": "10", "load_s": "6"}


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


def test_no_map_of_a_few_fine_cells():
    """The last part of 30 x 30 has one cell: quick, but nothing to draw or to conclude from."""
    at = open_page(CAPACITY, arrivals="poisson", n="500", side="30")
    assert "cells are done" not in said(at)
    assert any(button.label.startswith("Map ") for button in at.button)
