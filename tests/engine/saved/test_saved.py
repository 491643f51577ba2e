"""What is saved comes back as it was; two who save under one name lose nothing."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Choice, Deployment, Experiment, InputError, Scenario, generate
from engine import compare as compare_policies
from engine.admission_limits import AdmissionLimits
from engine.capacity.objective import Objective
from engine.fleet import Topology
from engine.machine.hardware import presets
from engine.saved import Keeping, Snapshot, compare, database_url, facts_of, results_of
from engine.saved.snapshot import read_snapshot
from engine.saved.sweeps import recall, remember, sweep_key
from engine.sweeps.heat_map import HeatMap, passes, run_cells
from engine.sweeps.parameters import find_parameter
from tests.services import postgres

WHY = "the server programs of Debian's package postgresql are not installed"
SQLITE, POSTGRES = "sqlite", pytest.param("postgres", marks=pytest.mark.skipif(
    not postgres.is_there(), reason=WHY))  # fmt: skip


@pytest.fixture(scope="module")
def server():
    found = postgres.Postgres()
    yield found
    found.stop()


@pytest.fixture(params=[SQLITE, POSTGRES])
def url(request, tmp_path, monkeypatch):
    """Of a database with nothing in it."""
    monkeypatch.delenv("HEADROOM_DATABASE", raising=False)
    if request.param == "sqlite":
        monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
        return database_url()
    import sqlalchemy as sa

    server = request.getfixturevalue("server")
    wanted = database_url(server.url)
    engine = sa.create_engine(wanted)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return wanted


@pytest.fixture
def keeping(url):
    found = Keeping.at(url)
    yield found
    found.close()


def snapshot(scenario=Scenario(n=200), deployment=Deployment(16_492), keys=("svf", "vllm")):  # noqa: B008
    experiment = Experiment(scenario, deployment, tuple(map(Choice, keys)))
    entries = compare_policies(experiment, []).league
    facts = facts_of(experiment.choosing(entry.choice for entry in entries))
    settings = {"memory": [str(deployment.memory)], "classic": ["vllm", "fcfs"]}
    results = results_of(entries)
    return Snapshot("Compare", settings, str(scenario), facts, results, deployment.unit)


SMALL = Snapshot("Latency", {"n": ["5"]}, "five", {"requests": 5})


def test_a_view_comes_back_as_it_was(keeping):
    """Every field, the numbers to the last bit."""
    kept = keeping.save("  A  plan ", snapshot())
    (again,) = keeping.views()
    assert again == kept
    assert again.name == "A plan"
    assert abs(again.saved - datetime.now(UTC)) < timedelta(minutes=1)
    assert read_snapshot(again.snapshot.text("A plan")) == ("A plan", again.snapshot)


def test_two_sessions_under_one_name_lose_nothing(url):
    """Sixteen at the same moment, each through connections of its own, on a new database."""
    ready = threading.Barrier(16)
    problems = []

    def planner(number):
        mine = Keeping.at(url)
        try:
            ready.wait()
            mine.save("plan", Snapshot("Compare", {}, f"of planner {number}", {"n": number}))
        except Exception as problem:  # told below
            problems.append(problem)
        finally:
            mine.close()

    planners = [threading.Thread(target=planner, args=(number,)) for number in range(16)]
    for one in planners:
        one.start()
    for one in planners:
        one.join()
    assert not problems
    third = Keeping.at(url)
    kept = third.views()
    third.close()
    assert {view.name for view in kept} == {"plan", *(f"plan ({k})" for k in range(2, 17))}
    assert {view.snapshot.facts["n"] for view in kept} == set(range(16))


def test_rename_and_delete(keeping):
    """A taken name is refused, a view that is gone is told, deleting it again is nothing."""
    one, other = keeping.save("one", SMALL), keeping.save("other", SMALL)
    assert keeping.rename(one.id, " first ") == "first"
    with pytest.raises(InputError, match="another view is called other"):
        keeping.rename(one.id, "other")
    with pytest.raises(InputError, match="1 to 120 characters"):
        keeping.rename(one.id, "  ")
    keeping.delete(other.id)
    keeping.delete(other.id)
    with pytest.raises(InputError, match="is gone"):
        keeping.rename(other.id, "third")
    assert [view.name for view in keeping.views()] == ["first"]
    assert keeping.save("other", SMALL).name == "other"


def test_a_database_that_is_not_there():
    """One sentence, without the password."""
    missing = Keeping.at(database_url("postgresql://planner:secret@127.0.0.1:9/none"))
    with pytest.raises(InputError, match="does not answer") as problem:
        missing.views()
    assert "secret" not in str(problem.value)
    missing.close()
    with pytest.raises(InputError, match="must look like"):
        database_url("my database")


def changed(**fields):
    return json.dumps(json.loads(SMALL.text("x")) | fields)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a view"),
        ('{"format": "other"}', "is not a view"),
        (changed(name=3), "name of a view"),
        ('{"format": "headroom view 1", "page": "x"}', "field settings is missing"),
        (changed(length=1), "unknown field length"),
        (changed(settings={"n": [5]}), "settings"),
        (changed(settings=[]), "settings must be a record"),
        (changed(results=[{"policy": "svf"}]), "results"),
        (changed(results=[{"policy": "svf", "load": "stable", "mean_latency": None}]), "results"),
        (changed(unit=None), "unit must be a text"),
        (json.dumps("x" * 1_100_000), "longer than"),
    ],
)
def test_a_file_that_is_no_view(text, says):
    """Told in a sentence."""
    with pytest.raises(InputError, match=says):
        read_snapshot(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    """Nothing but InputError comes of it."""
    with pytest.raises(InputError):
        read_snapshot(text)


def test_one_field_changed():
    """M alone: the sentence names it and says what it did, as the runs have it."""
    small, large = snapshot(), snapshot(Scenario(n=200), Deployment(24_000))
    found = compare(small, large)
    assert [str(change) for change in found.changes] == ["M (tokens) 16\u202f492 → 24\u202f000"]
    means = [
        {result["policy"]: result["mean_latency"] for result in view.results}
        for view in (small, large)
    ]
    for effect in found.effects:
        assert effect.gain == means[1][effect.policy] / means[0][effect.policy] - 1 < 0
    assert found.in_words().startswith("One field changed, M (tokens) 16\u202f492 → 24\u202f000: ")
    assert "the mean latency of **svf** falls by" in found.in_words()
    assert found.same_engine
    slower = [large.results[0], {**large.results[1], "mean_latency": 1e6}]
    one = replace(large, facts={**large.facts, "watermark": 0.2}, results=slower)
    assert "watermark none → 0.200: the mean latency of **vllm** rises by" in (
        compare(large, one).in_words()
    )


def test_nothing_several_and_other_units():
    """Each is said; times in rounds and in seconds are not set against one another."""
    here = snapshot()
    assert compare(here, here).in_words().startswith("Nothing was changed")
    clock = presets()["llama-2-70b-a100-tp4"].clock
    there = snapshot(Scenario(n=200, seed=3), Deployment(16_492, clock, Topology(2)))
    found = compare(here, there)
    assert [change.name for change in found.changes] == ["seed", "clock", "servers"]
    assert found.changes[1].after.startswith("Llama-2-70B on 4 x A100 80 GB: c0 = 0.0372, ")
    edited = replace(clock, step=clock.step._replace(c0=0.05))
    assert snapshot(deployment=Deployment(16_492, edited)).facts["clock"].startswith("c0 = 0.05, ")
    assert not found.effects
    assert found.in_words().startswith("3 fields changed, seed 0 → 3; ")


def test_overloaded_latencies_are_not_compared():
    """They are no steady state's."""
    calm = snapshot(Scenario(n=400, arrivals="poisson", rate=0.05))
    crowded = snapshot(Scenario(n=400, arrivals="poisson", rate=5))
    found = compare(calm, crowded)
    assert {effect.gain for effect in found.effects} == {None}
    assert "is now overloaded" in found.in_words()
    assert "%" not in found.in_words()


def test_facts_tell_scenarios_apart():
    """Whatever field of a scenario differs and matters, some fact does."""
    base = Scenario(n=200, arrivals="gamma")
    for changed in (
        {"mix": {"short": 1}}, {"n": 300}, {"horizon": 5000}, {"seed": 1},
        {"arrivals": "poisson"}, {"rate": 0.1}, {"burstiness": 2},
    ):  # fmt: skip
        other = Scenario(**{"n": 200, "arrivals": "gamma", **changed})
        assert facts(base) != facts(other)
    assert "rate" not in facts(Scenario())
    workload = generate(base)
    for source in (base, workload):
        for changed in ({"concurrency": 3}, {"admission_limits": AdmissionLimits(9.0)}):
            assert facts(source) != facts(replace(source, **changed))
        assert facts(source) != facts(source, 9000)
    assert facts(workload) != facts(generate(Scenario(n=200)))


def facts(source, memory=16_492):
    return facts_of(Experiment(source, Deployment(memory), (Choice("svf"),)))


def a_map(seed=0):
    stands = Experiment(
        Scenario(n=120, arrivals="poisson", seed=seed), Deployment(16_492), (Choice("svf"),)
    )
    across, up = find_parameter(stands, "rate"), find_parameter(stands, "memory")
    return HeatMap(stands, across, up, (0.05, 0.1), (2, 20_000), Objective())


def test_parts_of_a_sweep_are_remembered(keeping):
    """As they were, also cells that cannot run; under their own scenario and engine only."""
    drawn = a_map()
    cells = dict(run_cells(drawn, passes(drawn)[0]))
    remember(keeping.database, sweep_key(drawn), 0, cells)
    remember(keeping.database, sweep_key(drawn), 0, {})
    found = recall(keeping.database, sweep_key(drawn))
    assert list(found) == [0]
    assert str(found[0]) == str(cells)
    assert recall(keeping.database, sweep_key(a_map(seed=1))) == {}


def test_room_for_sweeps_is_bounded(keeping):
    """Those that were used last stay."""
    cells = dict(run_cells(a_map(), [(0, 1)]))
    size = len(json.dumps([[0, 1, {"svf": vars(cells[0, 1]["svf"])}]]))
    for part in range(6):
        remember(keeping.database, "a" * 64, part, cells, most=4 * size)
        recall(keeping.database, "b" * 64)
    assert len(recall(keeping.database, "a" * 64)) == 4
    assert 5 in recall(keeping.database, "a" * 64)


def test_another_engine_does_not_find_them(monkeypatch):
    """The key holds the version."""
    before = sweep_key(a_map())
    monkeypatch.setattr("engine.saved.sweeps.version", lambda: "another")
    assert sweep_key(a_map()) != before
