"""Views are saved from the sidebar, listed, compared, renamed, deleted, and read from files."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from engine.saved import Keeping, database_url
from pages.parts.capacity import map as capacity_map
from pages.parts.store import store
from tests.services.opened_page import CAPACITY, ROOT, SAVED, open_page, said, save, toasts


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch):
    """A new one for each test."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    kept = Keeping.at(database_url())
    yield kept
    kept.close()


def test_two_saves_compared(database):
    """M alone was changed: the page opens with the number of views and tells what that did."""
    assert "Saved as “small”." in toasts(save(open_page(n="200"), "small"))
    save(open_page(n="200", memory="24000"), "large")
    at = open_page(SAVED)
    assert "2 views are saved; the latest is **large**" in said(at)
    assert "One field changed, M (tokens) 16\u202f492 → 24\u202f000: the mean latency" in said(at)
    assert "falls by" in said(at)
    large, small = database.views()
    assert large.snapshot.settings == {"memory": ["24000"], "n": ["200"]}
    assert small.snapshot.page == "Compare"


def test_the_list_tells_memory_and_gpu_apart():
    """In columns of their own, so that a long scenario does not hide them."""
    save(open_page(n="50", clock="llama-3-8b-a100", memory="20000"), "gpu")
    save(open_page(n="50"), "papers")
    table = open_page(SAVED).dataframe[0].value
    assert table["M (tokens)"].tolist() == ["16\u202f492", "20\u202f000"]
    papers, gpu = table["Clock"]
    assert papers == "rounds"
    assert gpu.startswith("Llama-3-8B on 1 x A100 80 GB: c0 = 0.0108, ")


def test_a_taken_name_keeps_both(database):
    """Two sessions, one name."""
    save(open_page(n="200"), "plan")
    told = toasts(save(open_page(n="300"), "plan"))
    assert "Saved as “plan (2)”. That name was taken; both are kept." in told
    assert [view.snapshot.facts["requests"] for view in database.views()] == [300, 200]


def test_open_brings_the_view_back(database):
    """Its link, followed, has the same results."""
    save(open_page("pages/2_Latency.py", n="200", memory="9000", arrivals="poisson"), "mine")
    (kept,) = database.views()
    assert kept.snapshot.page == "Latency"
    at = open_page("pages/2_Latency.py", **kept.snapshot.settings)
    assert at.number_input(key="memory").value == 9000
    again = toasts(save(at, "again"))
    assert "again" in again
    first, second = database.views()
    assert first.snapshot == second.snapshot


def test_rename_delete_export(database):
    """Each does what it says; the export reads back."""
    kept = database.save("one", save_of(database))
    at = open_page(SAVED)
    at.text_input(key=f"rename {kept.id}").set_value("two").run()
    next(button for button in at.button if button.label == "Rename it").click().run()
    assert [view.name for view in database.views()] == ["two"]
    (export,) = [e for e in at.get("download_button") if "Export" in e.label]
    assert export
    next(button for button in at.button if button.label == "Delete it").click().run()
    assert database.views() == []
    assert "Nothing is saved yet" in said(at)


def save_of(database):
    """A snapshot of the default view with few requests."""
    save(open_page(n="120"), "first")
    (kept,) = database.views()
    database.delete(kept.id)
    return kept.snapshot


def test_import(database):
    """A view from a file is listed; a bad file says why it is none."""
    text = database.save("mine", save_of(database)).snapshot.text("theirs")
    at = open_page(SAVED)
    at.file_uploader(key="view file").upload("view.json", text.encode(), "application/json").run()
    assert not at.exception
    assert {view.name for view in database.views()} == {"mine", "theirs"}
    bad = json.dumps(json.loads(text) | {"unit": 3}).encode()
    at.file_uploader(key="view file").upload("bad.json", bad, "application/json").run()
    assert "bad.json: the view: unit must be a text" in at.error[0].value
    assert len(database.views()) == 2


def test_nothing_saved_yet():
    """The page says how."""
    at = open_page(SAVED)
    assert "Nothing is saved yet" in said(at)
    assert "Save or export" in said(at)


def test_a_database_that_is_not_there(monkeypatch):
    """The page says so; saving says so and the page stays."""
    monkeypatch.setenv("HEADROOM_DATABASE", "postgresql://me:secret@127.0.0.1:9/none")
    at = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    at.switch_page(SAVED).run()
    assert "does not answer" in at.error[0].value
    assert "secret" not in at.error[0].value
    at = save(open_page(n="120"), "plan")
    assert "does not answer" in toasts(at)
    assert not at.error


def test_large_map_is_found_by_a_later_visit(monkeypatch):
    """Computed once, then there for a server that starts anew, as long as nothing changed."""
    monkeypatch.setattr(capacity_map, "LARGE", 0.0)
    link = {"n": "130", "arrivals": "poisson", "side": "10", "provable": "svf", "classic": "",
            "deployed": "", "ours": "", "seed": "77"}  # fmt: skip
    at = open_page(CAPACITY, **link)
    next(button for button in at.button if button.label.startswith("Map ")).click().run()
    assert "100 of 100 cells are done" in said(at)
    store.clear()
    with monkeypatch.context() as patch:
        patch.setattr(capacity_map, "run_cells", None)  # must not be needed
        assert "100 of 100 cells are done" in said(open_page(CAPACITY, **link))
    assert "100 of 100" not in said(open_page(CAPACITY, **{**link, "seed": "78"}))


@pytest.mark.parametrize("path", [SAVED, "pages/9_About.py"])
@pytest.mark.parametrize("link", [{"memory": "3"}, {"max_model_len": "1"}], ids=str)
def test_a_link_by_which_no_request_fits(database, path, link):
    """Pages that show no scenario are drawn, and what is in view can be saved."""
    at = open_page(path, n="40", **link)
    save(at, "none fits")
    assert not at.exception
    assert "none fits" in toasts(at)
