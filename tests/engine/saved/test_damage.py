"""What no page could show is refused at the door; what is kept already takes nothing else along."""

import json
import re
import sqlite3
from contextlib import closing
from copy import deepcopy
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, update

from engine import InputError
from engine.database.tables import KEPT
from engine.saved import Keeping, Snapshot, compare, database_url
from engine.saved.snapshot import best_of, read_snapshot
from engine.saved.sweeps import SWEEPS, fits, recall, remember, sweep_key
from engine.sweeps.heat_map import passes, run_cells
from pages.parts.capacity import map as capacity_map
from pages.parts.store import store
from tests.engine.saved.test_saved import a_map, keeping, server, url  # noqa: F401
from tests.services.damaged_views import DAMAGED, INFINITE, SOUND, damaged, text_of, texts
from tests.services.opened_page import CAPACITY, SAVED, open_page, said, save, toasts

FILES = texts()
COLUMNS = "INSERT INTO views (name, saved, view) VALUES "
BY_HAND = {  # rows that SQLite takes
    "a time that is none": f"{COLUMNS}('odd', 'yesterday', ?)",
    "a time that is a number": f"{COLUMNS}('odd', 2026, ?)",
    "a view that is no UTF-8": f"{COLUMNS}('odd', '2026-01-01', CAST(x'7bff' || ? AS TEXT))",
    "a view of nothing": f"{COLUMNS}('odd', '2026-01-01', substr(?, 1, 0))",
}
HARMLESS = {
    "a name of bytes": f"{COLUMNS}(x'6f6464', '2026-01-01', ?)",
    "a name that is no UTF-8": f"{COLUMNS}(CAST(x'61ff' AS TEXT), '2026-01-01', ?)",
    "a view of bytes": f"{COLUMNS}('odd', '2026-01-01', CAST(? AS BLOB))",
    "a zone of its own": f"{COLUMNS}('odd', '2026-01-01T00:00:00+02:00', ?)",
}


@pytest.fixture
def database(tmp_path, monkeypatch):
    """A new SQLite file with a sound view in it."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    kept = Keeping.at(database_url())
    kept.save("sound", Snapshot(**SOUND))
    yield kept
    kept.close()


def put(keeping, text, name="odd"):  # noqa: F811
    """A row as another version may have written it."""
    with keeping.database.writing() as connection:
        row = {"kind": "view", "name": name, "saved": datetime.now(UTC), "content": text}
        connection.execute(insert(KEPT), row)


def put_by_hand(folder, statement, text):
    with closing(sqlite3.connect(folder / "saved.db")) as file:
        file.execute(statement, (text,))
        file.commit()


@pytest.mark.parametrize("kind", [kind for kind in DAMAGED if "field" not in DAMAGED[kind][2]])
def test_saving_refuses(database, kind):
    """With the field's name, and nothing is kept."""
    with pytest.raises(InputError, match=DAMAGED[kind][2]):
        database.save("odd", Snapshot(**damaged(kind)))
    assert [view.name for view in database.views()] == ["sound"]


@pytest.mark.parametrize("kind", FILES)
def test_uploading_refuses(database, kind):
    """The page says which field it is, and stays."""
    text, says = FILES[kind]
    at = open_page(SAVED)
    at.file_uploader(key="view file").upload("v.json", text.encode(), "application/json").run()
    assert not at.exception
    assert re.search(says, at.error[0].value)
    assert [view.name for view in database.views()] == ["sound"]


@pytest.mark.parametrize("kind", FILES)
def test_a_row_takes_no_other_along(database, kind):
    """It is listed with the reason and can be deleted; the others are as they were."""
    text, says = FILES[kind]
    if kind == "grows when it is kept":  # and has grown
        text = json.dumps(json.loads(text), indent=1)
        says = "longer"
    put(database, text)
    at = open_page(SAVED)
    assert not at.error
    assert "One view is saved, **sound**" in said(at)
    (told,) = at.text
    assert re.search(f"odd.* cannot be read: .*{says}", told.value)
    (odd,) = database.listed()[1]
    at.button(key=f"delete {odd.id}").click().run()
    assert not at.exception
    assert not at.text
    assert database.listed()[1] == []
    assert [view.name for view in database.views()] == ["sound"]


@pytest.mark.parametrize("kind", FILES)
def test_rows_in_either_database(keeping, kind):  # noqa: F811
    """Those that can be read, and beside them those that cannot."""
    keeping.save("sound", Snapshot(**SOUND))
    put(keeping, json.dumps(json.loads(FILES[kind][0]), indent=1) if kind in DAMAGED else "{")
    views, (odd,) = keeping.listed()
    assert [view.name for view in views] == ["sound"]
    assert odd.name == "odd"
    assert odd.reason
    keeping.delete(odd.id)
    assert keeping.listed() == (views, [])


@pytest.mark.parametrize("kind", BY_HAND)
def test_a_row_by_hand(database, tmp_path, kind):
    """Whatever SQLite takes in a column."""
    put_by_hand(tmp_path, BY_HAND[kind], text_of(SOUND))
    at = open_page(SAVED)
    assert "One view is saved, **sound**" in said(at)
    assert at.text[0].value.startswith("“odd” cannot be read: ")


@pytest.mark.parametrize("kind", HARMLESS)
def test_a_row_by_hand_that_can_be_read(database, tmp_path, kind):
    """It is listed among the others."""
    put_by_hand(tmp_path, HARMLESS[kind], text_of(SOUND))
    at = open_page(SAVED)
    assert "2 views are saved" in said(at)
    assert not at.text


def test_only_what_cannot_be_read(database):
    """The page does not say that nothing is saved."""
    (sound,) = database.views()
    database.delete(sound.id)
    for number in range(30):
        put(database, "{", f"odd {number}")
    at = open_page(SAVED)
    assert "Nothing that is saved can be read" in said(at)
    assert len(at.text) == 20
    assert "of 30" in said(at)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "\ud800"])
def test_names(keeping, name):  # noqa: F811
    """PostgreSQL keeps no NUL and nobody half a character; saving and renaming say so."""
    sound = keeping.save("sound", Snapshot(**SOUND))
    with pytest.raises(InputError, match="the name has"):
        keeping.save(name, Snapshot(**SOUND))
    with pytest.raises(InputError, match="the name has"):
        keeping.rename(sound.id, name)
    assert keeping.views() == [sound]


def test_a_name_that_cannot_be_kept_on_the_page(database):
    """A toast, and the page stays."""
    told = toasts(save(open_page(n="120"), "a\0b"))
    assert "the name has" in told


def test_a_file_with_a_byte_order_mark(database):
    """As some editors write it."""
    at = open_page(SAVED)
    text = text_of(SOUND).encode("utf-8-sig")
    at.file_uploader(key="view file").upload("v.json", text, "application/json").run()
    assert [view.name for view in database.views()] == ["odd", "sound"]


OTHERS = {
    "fewer metrics": ["p99_latency", "makespan", "gap"],
    "no mean latency": ["mean_latency"],
    "none at all": [name for name in SOUND["results"][0] if name not in ("policy", "load")],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_version_kept_fewer_metrics(database, kind):
    """What it has is shown and compared, also on the side of the other view."""
    record = deepcopy(SOUND)
    record["facts"]["M (tokens)"] = 9_000
    record["results"][0] |= {"p999_latency": 95.0}
    for name in OTHERS[kind]:
        del record["results"][0][name]
    put(database, text_of(record))
    for sides in ({}, {"before": "2", "after": "1"}, {"before": "2", "after": "2"}):
        at = open_page(SAVED, **sides)
        assert not at.error
        assert not at.text
        assert "2 views are saved; the latest is **odd**" in said(at)
        assert "practically the same" not in said(at) or "mean_latency" in record["results"][0]
    (effects,) = [one.value for one in open_page(SAVED).dataframe if "P99 after" in one.value]
    assert (effects["P99 after"][0] == "–") == ("p99_latency" in OTHERS[kind])
    assert (effects["Change"][0] == "–") == ("mean_latency" in OTHERS[kind])


def test_a_view_called_like_a_heading(database):
    """Its column does not replace the names of the fields."""
    record = deepcopy(SOUND)
    record["facts"]["M (tokens)"] = 9_000
    database.save("Field", Snapshot(**record))
    (table,) = [one.value for one in open_page(SAVED).dataframe if "Field" in one.value]
    assert table["Field"].tolist() == ["M (tokens)"]


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ANYTHING = st.recursive(
    PLAIN | st.just(10**400) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(["M (tokens)", "rate", "\ud800"]), ANYTHING),
    st.dictionaries(st.sampled_from(["mean_latency", "gap", "p99_latency", "new"]), ANYTHING),
)
def test_whatever_is_let_in_can_be_told(facts, metrics):
    """A view is refused in a sentence that can be written, or everything of it can be shown."""
    record = {**SOUND, "facts": facts, "results": [{"policy": "svf", "load": "stable", **metrics}]}
    try:
        _, found = read_snapshot(text_of(record))
    except InputError as problem:
        str(problem).encode()
        return
    sound = Snapshot(**SOUND)
    told = [best_of(found.results, found.unit)]
    for pair in ((sound, found), (found, sound), (found, found)):
        told += [compare(*pair).in_words(), *map(str, compare(*pair).changes)]
    assert "".join(told).encode()
    assert read_snapshot(found.text("x")) == ("x", found)


def change(cells, **fields):
    """The JSON of a part with these fields of its first reading."""
    content = json.loads(cells)
    content[0][2]["svf"] |= fields
    return json.dumps(content)


DAMAGED_PARTS = {
    "no JSON": lambda cells: "{",
    "nested": lambda cells: "[" * 100_000,
    "no list": lambda cells: "7",
    "no record": lambda cells: "[[0, 0, 3]]",
    "a field of another version": lambda cells: change(cells, jitter=1),
    "no number": lambda cells: change(cells, ttft="quick"),
    "a truth": lambda cells: change(cells, ttft=True),
    "below 0": lambda cells: change(cells, mean_latency=-3.0),
    "below all": lambda cells: change(cells, excess=-INFINITE),
    "400 digits": lambda cells: change(cells, ttft=10**400),
    "no verdict": lambda cells: change(cells, verdict="fine"),
    "no count": lambda cells: change(cells, preemptions=None),
}


@pytest.mark.parametrize("kind", DAMAGED_PARTS)
def test_a_damaged_part_of_a_sweep_is_forgotten(keeping, kind):  # noqa: F811
    """The others stay, and it can be kept anew."""
    drawn = a_map()
    cells = dict(run_cells(drawn, [(0, 1)]))
    for part in (0, 1):
        remember(keeping.database, sweep_key(drawn), part, cells)
    with keeping.database.writing() as connection:
        content = connection.execute(SWEEPS.select()).first().cells
        mine = update(SWEEPS).where(SWEEPS.c.part == 1)
        connection.execute(mine.values(cells=DAMAGED_PARTS[kind](content)))
    assert list(recall(keeping.database, sweep_key(drawn))) == [0]
    remember(keeping.database, sweep_key(drawn), 1, cells)
    assert list(recall(keeping.database, sweep_key(drawn))) == [0, 1]


def test_infinite_and_missing_readings_come_back(keeping):  # noqa: F811
    """They are no damage: a percentile of which too few were served, a TPOT without tokens."""
    drawn = a_map()
    cells = dict(run_cells(drawn, [(0, 1)]))
    vars(cells[0, 1]["svf"]).update(excess=INFINITE, tpot=float("nan"))
    remember(keeping.database, sweep_key(drawn), 0, cells)
    assert str(recall(keeping.database, sweep_key(drawn))) == str({0: cells})


def test_cells_of_another_map_do_not_fit():
    """Nor does a part that there is not."""
    drawn = a_map()
    first = passes(drawn)[0]
    cells = dict(run_cells(drawn, first))
    assert fits(drawn, 0, cells)
    assert not fits(drawn, 99, cells)
    assert not fits(drawn, 0, {(0, 7): {}})
    assert not fits(drawn, 0, {place: {} for place in first})


def test_a_damaged_map_on_the_page(database, monkeypatch):
    """It is computed or offered again instead of taking the page along."""
    monkeypatch.setattr(capacity_map, "LARGE", 0.0)
    link = {"n": "130", "arrivals": "poisson", "side": "10", "provable": "svf", "classic": "",
            "deployed": "", "ours": "", "seed": "79"}  # fmt: skip
    at = open_page(CAPACITY, **link)
    next(button for button in at.button if button.label.startswith("Map ")).click().run()
    with database.database.writing() as connection:
        connection.execute(update(SWEEPS).where(SWEEPS.c.part == 0).values(cells="[[0, 0, {}]]"))
        connection.execute(update(SWEEPS).where(SWEEPS.c.part == 1).values(cells="{"))
    store.clear()
    at = open_page(CAPACITY, **link)
    assert not at.error
    offered = any(button.label.startswith("Map ") for button in at.button)
    assert offered or "100 of 100 cells are done" in said(at)
