"""Who may do what on the pages: alone, in a team, in public."""

import gzip
import os
import re
import threading

import pytest
from streamlit import config

from engine import Scenario
from engine.database import connected
from engine.demand.example import examples, load_example
from engine.demand.source import how_many
from engine.mode import MODES, PUBLIC, Mode
from engine.places import Places
from engine.saved import Keeping, Snapshot, database_url
from pages.parts import allowed
from pages.parts.declared import declared_pages
from pages.parts.jobs import Job
from pages.parts.store import store
from tests.services.damaged_views import SOUND
from tests.services.opened_page import (
    AUDIT,
    CAPACITY,
    GAP,
    ROOT,
    SAVED,
    open_audit,
    open_page,
    press,
    said,
    save,
    toasts,
    vllm_result,
)

HOME = "machine of your own"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of the server, and Streamlit's settings as they were."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    before = {name: config.get_option(name) for name in PUBLIC.settings}
    yield tmp_path
    for name, value in before.items():
        config.set_option(name, value)


@pytest.fixture
def team(monkeypatch):
    monkeypatch.setenv("HEADROOM_MODE", "team")


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv("HEADROOM_MODE", "public")


def on_saved(at):
    """The page Saved of this visit."""
    at.switch_page(SAVED)
    at.run()
    assert not at.exception, at.exception
    return at


def labels(at):
    return [button.label for button in at.button]


def with_preset(title, n):
    """A visitor who has kept the round times of a server, from a benchmark of n requests."""
    store.clear()  # another test may have calibrated the same
    at = open_audit("bench.json", vllm_result(n), clock="llama-2-70b-a100-tp4")
    press(at, "Calibrate round times")
    at.text_input[[field.label for field in at.text_input].index("Name")].set_value(title).run()
    return press(at, "Save preset")


def clocks(at):
    return at.selectbox(key="clock").options


def test_two_visitors_in_public(public, folder):
    """Neither sees, opens, renames or deletes what the other saved, and nothing is on the disk."""
    first = save(open_page(n="200"), "secret plan")
    assert "Saved as “secret plan”." in toasts(first)
    second = save(open_page(n="300"), "secret plan")
    assert "Saved as “secret plan”." in toasts(second)  # the name is free for everybody
    seen = on_saved(second)
    assert "One view is saved" in said(seen)
    (scenario,) = seen.dataframe[0].value["Scenario"]
    assert scenario.startswith("300 requests")
    press(seen, "Delete it")
    assert "Nothing is saved yet" in said(seen)
    assert "One view is saved" in said(on_saved(first))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("setting", ["view", "before", "after"])
def test_a_link_to_anothers_view(public, setting):
    """It opens nothing and says why, whether the visitor has views of their own or none."""
    first = on_saved(save(open_page(n="200"), "secret plan"))
    id = first.selectbox(key="view").value
    link = {setting: str(id)}
    stranger = open_page(SAVED, **link)
    assert "This link names a saved view of another visit" in said(stranger)
    assert "secret plan" not in said(stranger)
    own = save(open_page(n="300"), "mine")
    own.query_params[setting] = str(id)
    assert "This link names a saved view of another visit" in said(on_saved(own))
    assert own.dataframe[0].value["Name"].tolist() == ["mine"]
    assert "This link names" not in said(on_saved(first))


def test_two_visitors_of_a_team(team):
    """Both see both, whoever saved it may see it gone, and the page says so."""
    save(open_page(n="200"), "ours")
    at = on_saved(save(open_page(n="300"), "yours"))
    assert at.dataframe[0].value["Name"].tolist() == ["yours", "ours"]
    assert (
        "Everybody who uses this server sees what is saved here, and may rename or delete it."
        in said(at)
    )
    assert "Deleted, it goes for everybody who uses this server." in said(at)
    press(at, "Delete it")
    assert [view.name for view in Keeping(connected()).views()] == ["ours"]


def test_presets_in_public(public, folder):
    """Offered to whoever made it; a link to it brings its times, and no more."""
    first = with_preset("Our server", 41)
    assert "Our server" in clocks(first)
    assert "Our server" not in clocks(open_page())
    key = first.selectbox(key="clock").value
    linked = open_page(clock=key, c0="30", c1="0", N0="0", c2="0", c3="0")
    assert [name for name in clocks(linked) if name.startswith("our-server")]  # its key, no title
    assert "Presets of your own" not in said(open_page(SAVED))
    assert "Presets of your own" in said(on_saved(first))
    assert list(folder.iterdir()) == []


def test_presets_of_a_team(team):
    at = with_preset("Our server", 42)
    assert "Deleted, it goes for everybody who uses this server." in said(at)
    assert "Our server" in clocks(open_page())


def test_what_lies_on_the_server_is_not_shown(public, folder):
    """Not its database, and not its files, which stay where they are."""
    Keeping.at(database_url()).save("the owner's", Snapshot(**SOUND))
    (folder / "hardware").mkdir()
    file = folder / "hardware" / "own-theirs.json"
    file.write_text("no preset")
    at = open_page(SAVED)
    assert "Nothing is saved yet" in said(at)
    assert "own-theirs" not in said(at) + " ".join(text.value for text in at.text)
    assert file.is_file()


def test_no_database_is_opened(public, monkeypatch, folder):
    """Not the one that the environment names, and not one that the server's secrets name."""
    named = folder / "named.db"
    monkeypatch.setenv("HEADROOM_DATABASE", f"sqlite:///{named}")
    save(open_page(n="200"), "plan")
    secrets = {"connections": {"saved": {"url": f"sqlite:///{folder / 'secret.db'}"}}}
    save(open_page(n="200", secrets=secrets), "plan")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", MODES)
def test_no_link_takes_an_address(mode, monkeypatch):
    """Where a scheduler or a database is, whoever starts the server says: code runs there."""
    monkeypatch.setenv("HEADROOM_MODE", mode)
    monkeypatch.delenv("HEADROOM_SCHEDULER", raising=False)
    before = os.environ.copy()
    link = {"scheduler": "tcp://10.0.0.1:8786", "HEADROOM_SCHEDULER": "tcp://10.0.0.1:8786",
            "database": "postgresql://a@b/c", "HEADROOM_MODE": "single"}  # fmt: skip
    at = open_page(n="200", **link)
    assert said(at).count("(has no use here)") == len(link)
    assert os.environ == before


@pytest.mark.parametrize("declared", declared_pages(), ids=lambda declared: declared.title)
def test_every_page_opens(declared, public):
    at = open_page(declared.path, n="200", arrivals="poisson")
    assert not at.error, at.error


TOO_MUCH = {
    "n": {"n": "20001"},
    "horizon": {"arrivals": "poisson", "by_horizon": "true", "horizon": "1e6"},
    "search": {"provable": "", "ours": "best-found", "best-found.seconds": "11"},
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_link_that_asks_for_more(name, public, monkeypatch):
    """Is told the limit and how to run it at home; nothing is drawn, and the controls stay."""
    monkeypatch.setattr(
        "engine.demand.source.generate", lambda _: pytest.fail("requests were drawn")
    )
    at = open_page(**TOO_MUCH[name])
    assert "this public server" in said(at)
    assert HOME in said(at)
    assert at.number_input(key="memory").value == 16_492


@pytest.mark.parametrize("key", examples())
def test_no_example_is_too_large(key):
    example = load_example(key)
    PUBLIC.check_requests(how_many(example.scenario or example.workload))


def test_as_much_as_is_allowed(public):
    assert HOME not in said(open_page(n="20000", fcfs="", classic="fcfs"))


def test_a_large_map(public):
    """Of more cells, or with cells of more requests."""
    asked = {"n": "200", "arrivals": "poisson", "classic": "fcfs", "provable": "", "deployed": ""}
    assert "maps of up to 400 cells" in said(open_page(CAPACITY, side="30", **asked))
    at = open_page(CAPACITY, across="n", to_n="1000000", **asked)
    assert "up to 20,000 requests at a time" in said(at)
    assert not any("Map" in label for label in labels(at))
    assert any("Map" in label for label in labels(open_page(CAPACITY, **asked)))


def test_a_dear_job_is_not_offered(public):
    """One sentence in place of the button; what is cheap beside it is offered still."""
    at = open_page(GAP, n="20000", arrivals="poisson", classic="fcfs", provable="", ours="")
    assert "runs jobs of up to 30 s, which is too short for Price bound (about" in said(at)
    (button,) = [label for label in labels(at) if label.startswith("Run ")]
    assert button == "Run Fluid prices"


def test_a_dear_job_does_not_start(public):
    """However it was asked for."""
    job = Job("dear", "the audit", 31.0, lambda progress: pytest.fail("it was started"))
    with pytest.raises(ValueError, match="up to 30 s"):
        job.result()
    assert Job("cheap", "the audit", 1.0, lambda progress: 3).result() == 3


def test_jobs_take_turns(public, monkeypatch):
    """Two at once over all visitors: a third waits, and is told."""
    places, heard, go_on = Places(2), [], threading.Event()
    monkeypatch.setattr(allowed, "_places", lambda most: places)

    def report(share, sentence=""):
        heard.append(sentence)
        go_on.set()

    def wait(progress):
        assert go_on.wait(20)

    jobs = [Job(("turn", k), f"job {k}", 1.0, wait) for k in range(2)]
    threads = [threading.Thread(target=job.result) for job in jobs]
    for thread in threads:
        thread.start()
    while places._places._value:  # until both are under way
        pass
    assert Job(("turn", 2), "job 2", 1.0, lambda progress: 3).result(report) == 3
    assert heard[0] == "waiting for one of 2 jobs of other visitors to end"
    for thread in threads:
        thread.join()


HEADER = b"arrival,prompt,output\n"


@pytest.mark.parametrize(
    ("content", "limit"),
    [
        (HEADER + b"0,10,10\n" * 20_001, "more than 20,000 rows"),
        (gzip.compress(HEADER + b"0,10,10\n" * 20_001), "more than 20,000 rows"),
        (gzip.compress(HEADER + b" " * 101_000_000), "line"),
        (b" " * (10 * 2**20 + 1), "up to 10 MB"),
    ],
    ids=["rows", "packed rows", "bomb", "bytes"],
)
def test_an_upload_that_is_too_large(content, limit, public):
    at = open_page(AUDIT, **{"from": "upload"})
    at.file_uploader[0].upload("trace.csv", content).run()
    assert limit in said(at)


def test_a_map_is_not_kept(public, monkeypatch, folder):
    """No table of the server grows by what strangers compute."""
    monkeypatch.setattr("pages.parts.capacity.map.LARGE", 0.0)
    asked = {"n": "130", "arrivals": "poisson", "classic": "fcfs", "provable": "", "deployed": ""}
    at = press(open_page(CAPACITY, side="10", **asked), "Map")
    assert "100 of 100 cells are done" in said(at)
    assert list(folder.iterdir()) == []


def test_streamlit_follows(public):
    """`streamlit run app.py` knows no mode when it starts: the first page sees to it."""
    open_page("pages/9_About.py")
    assert config.get_option("server.maxUploadSize") == 10
    assert config.get_option("client.showErrorDetails") == "none"


def test_a_stricter_ceiling_stays(public):
    """Whoever starts the server may lower it."""
    config.set_option("server.maxUploadSize", 3)
    open_page("pages/9_About.py")
    assert config.get_option("server.maxUploadSize") == 3


@pytest.mark.parametrize("path", ["app.py", SAVED])
def test_no_mode_no_page(path, monkeypatch, folder):
    """One sentence, and nothing that could be used."""
    monkeypatch.setenv("HEADROOM_MODE", "pubic")
    at = open_page(path)
    (error,) = at.error
    assert "must be one of single, team, public" in error.value
    assert not at.button
    assert not at.selectbox
    assert list(folder.iterdir()) == []


def test_no_page_names_a_mode_of_its_own():
    """What a mode allows stands in engine/mode.py alone: pages ask it, not for its name."""
    asks = re.compile(r"\bHEADROOM_MODE\b|mode\(?\)?\.name\b|\b(?:PUBLIC|TEAM|SINGLE)\b")
    sources = [ROOT / "app.py", *ROOT.glob("pages/**/*.py")]
    assert not [path.name for path in sources if asks.search(path.read_text())]


def test_every_mode_says_what_it_is():
    """A new field of a mode has to be given a meaning."""
    assert all(name in Mode.__doc__ for name in Mode.__dataclass_fields__)
    assert Scenario().requests <= PUBLIC.requests
