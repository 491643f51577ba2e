"""The programs of this folder in their shortest form; run as modules they have a longer one.

Nothing here is timed: what must end, ends long before its limit.
"""

import pytest

from tests.endurance import bad_inputs, bombs, damaged_rows, departures, faults, links


def test_bad_inputs():
    """Every one is answered or refused with a sentence."""
    outcomes = bad_inputs.attack(100)
    odd = [outcome for outcome in outcomes if outcome["kind"] not in ("answered", "refused")]
    assert odd == []
    assert len({outcome["arguments"][0] for outcome in outcomes}) == len(bad_inputs.BASE)


def test_links(monkeypatch, tmp_path):
    """No page shows an exception."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    odd = [one for one in links.attack(30) if one["kind"] not in ("drawn", "refused")]
    assert odd == []


def test_damaged_rows(monkeypatch, tmp_path):
    """Each is read or set aside, and takes no other along."""
    monkeypatch.setenv("HEADROOM_HOME", str(tmp_path))
    counts = damaged_rows.attack(100)
    assert counts["read"] + counts["set aside"] == 100
    assert counts["set aside"] > 50
    assert {kind: counts[kind] for kind in ("lost", "sound one missing", "not one sentence")} == {
        "lost": 0, "sound one missing": 0, "not one sentence": 0,
    }  # fmt: skip
    assert counts["page drawn"] == len(damaged_rows.PAGES)


@pytest.mark.parametrize("bomb", ["gzip within gzip", "a million columns"])
def test_bombs(bomb):
    (outcome,) = bombs.attack([bomb])
    assert outcome["stood"], outcome


def test_departures():
    """Of an upload and of work under way nothing is left soon after all have gone."""
    visit = departures.measure(megabytes=20, visitors=2, after=1)
    _, _, first = next(visit)
    _, _, full = next(visit)
    assert full.memory > first.memory + 100

    def is_back(state):
        halfway = (first.memory + full.memory) / 2
        few = state.threads <= first.threads + 2
        return state.memory < halfway and few and state.busy < departures.IDLE

    later = []
    while not later or not is_back(later[-1]):
        _, _, state = next(visit, (None, None, None))
        assert state is not None, later
        later.append(state)
    visit.close()


def test_a_database_that_goes():
    """Pages say so, and all is well when it is back."""
    held, what = faults.happen("database goes")
    if held == "skipped":
        pytest.skip(what)
    assert held == "held", what
