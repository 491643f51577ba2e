"""The most clients of a closed loop within limits: by arithmetic, by the command, on the page."""

import json
import math

import numpy as np
import pytest

from engine import ROUNDS, Choice, Deployment, InputError, Scenario, Topology, Workload
from engine.capacity.clients import ClientSearch, asked_of_clients, bisect_count, most_clients
from engine.capacity.clients_told import answer, remarks
from engine.capacity.objective import Objective
from engine.cli import main
from engine.measure.slo import Slo
from engine.policy import POLICIES
from engine.progress import silent
from engine.traces import write_csv
from tests.services.opened_page import CAPACITY, headline, open_page, press

PLENTY = 10**6
PLACES = 7
ALIKE = Workload(np.zeros(120), np.full(120, 5), np.full(120, 10))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Runs of 2,000 requests show as much where all are alike."""
    monkeypatch.setattr("engine.capacity.clients.FEWEST_SENT", 2_000)


def serve(source, slo, asked=3, choice=None, memory=PLENTY, seeds=2):
    question = asked_of_clients(source, Deployment(memory, ROUNDS), Objective(slo), seeds)
    search = ClientSearch(choice or Choice.of("vllm", {"max_num_seqs": PLACES}), question, asked)
    return dict(most_clients([search]))[0]


@pytest.mark.parametrize("slo", [Slo(latency=10), Slo(ttft=1)])
@pytest.mark.parametrize("asked", [1, PLACES, PLACES + 1, 900])
def test_as_many_as_there_are_places(slo, asked):
    """Where all requests are alike nobody waits until one client more than places comes."""
    clients = serve(ALIKE, slo, asked)
    assert clients.number == PLACES
    assert clients.rate == pytest.approx(PLACES / 10, rel=0.01)
    assert clients.carries_asked == (asked <= PLACES)
    assert clients.binding.kind == next(iter(slo.limits))


def test_as_many_as_the_memory_holds():
    """Of (6, 3) two are in M = 18, so the third waits."""
    requests = Workload(np.zeros(150), np.full(150, 6), np.full(150, 3))
    assert serve(requests, Slo(latency=3), choice=Choice("fcfs"), memory=18).number == 2


def test_none_and_no_end(monkeypatch):
    """A limit that one client misses; and one that no number of clients does."""
    monkeypatch.setattr("engine.capacity.clients.MOST_CLIENTS", 40)
    none, endless = serve(ALIKE, Slo(latency=9)), serve(ALIKE, Slo(tpot=2))
    assert (none.number, none.rate, none.carries_asked) == (0, 0.0, False)
    assert "even with one client" in answer([none], "rounds", "one server", Objective())
    assert (endless.number, endless.is_least, endless.interval) == (40, True, None)
    assert "at least 40 clients" in answer([endless], "rounds", "one server", Objective())


def test_seeds_give_an_interval():
    """Of drawn lengths it holds the answer, and an answer asked about within it is told so."""
    source = Scenario(n=300, concurrency=9)
    clients = serve(source, Slo(latency=3000), 9, Choice("svf"), memory=16_492, seeds=3)
    low, high = clients.interval
    assert low <= clients.number <= high
    assert [border.carries for border in clients.borders] == pytest.approx(
        [clients.number] * 3, 0.5
    )
    told = remarks([clients], ALIKE, Deployment(PLENTY, ROUNDS), Objective())
    assert any("chance decides" in sentence for sentence in told) == (low < 9 <= high)


def test_what_has_no_answer():
    """Without limits any number is served; several servers and few requests are told."""
    for deployment, slo, source, why in [
        (Deployment(PLENTY, ROUNDS), Slo(), ALIKE, "any number"),
        (Deployment(PLENTY, ROUNDS, Topology(2)), Slo(ttft=1), ALIKE, "one server"),
        (Deployment(PLENTY, ROUNDS), Slo(ttft=1), ALIKE.take(np.arange(50)), "too few"),
    ]:
        with pytest.raises(InputError, match=why):
            asked_of_clients(source, deployment, Objective(slo), 2)


@pytest.mark.parametrize("border", [0, 1, 7, 63])
@pytest.mark.parametrize("begin", [1, 5, 64, 5000])
@pytest.mark.parametrize("times", [1.1, 2.0])
def test_bisection_finds_the_border(border, begin, times):
    """From any number on, in any steps; exactly where it is below a hundred."""
    turn = bisect_count(lambda count: count <= border, begin, times, silent)
    assert (turn.carries, turn.fails) == (border, border + 1)


def test_a_border_beyond_all_numbers():
    assert math.isinf(bisect_count(lambda count: True, 3, 2.0, silent).fails)


def test_the_command(capsys, tmp_path):
    """JSON and table; a load is a rate and is refused."""
    path = tmp_path / "alike.csv"
    write_csv(ALIKE, path)
    asked = ["capacity", str(path), "-M", str(PLENTY), "--concurrency", "8", "--policy", "vllm"]
    asked += ["--param", f"vllm.max_num_seqs={PLACES}"]
    assert main([*asked, "--slo-ttft", "1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (row,) = told["policies"]
    assert (row["clients"], row["verdict"], told["concurrency"]) == (PLACES, "not carried", 8)
    assert row["binding"] == {"kind": "ttft", "class": None}
    assert main([*asked, "--slo-ttft", "1"]) == 0
    assert "8 clients are not" in capsys.readouterr().out
    for wrong in ([], ["--slo-ttft", "1", "--load", "2"], ["--slo-ttft", "1", "--patience", "2"]):
        assert main([*asked, *wrong]) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_the_page():
    """The same sentence, a table, and what to set where there are no limits."""
    others = {policy.group: "" for policy in POLICIES.values()}
    link = {"clients": "4", "memory": "16492", **others, POLICIES["fcfs"].group: "fcfs"}
    at = open_page(CAPACITY, **link, slo_latency="2000")
    at = press(at, "Run the clients of") if at.button and not at.dataframe else at
    assert "clients" in headline(at)
    assert "4 clients are " in headline(at)
    assert "Clients" in at.dataframe[0].value.columns
    assert "a number of clients" in headline(open_page(CAPACITY, **link))


def test_patience_has_a_rate(capsys):
    """`capacity` takes what keeps requests from being served, as `simulate` does."""
    asked = ["capacity", "-M", "16492", "--n", "300", "--policy", "svf", "--seeds", "1"]
    rates = []
    for more in ([], ["--patience", "30"], ["--queue-limit", "3"], ["--max-model-len", "2000"]):
        assert main([*asked, *more, "--format", "json"]) == 0
        told = json.loads(capsys.readouterr().out)
        (row,) = told["policies"]
        rates.append(row["rate"])
        lost = row["binding"]["kind"] == "unserved"
        assert lost == (more[:1] in (["--patience"], ["--queue-limit"]))
        assert (told["set_aside"] > 0) == (more[:1] == ["--max-model-len"])
    assert max(rates[1:3]) < rates[0]
