"""So many at once: whoever comes later waits, is told, may give up, and comes next."""

import threading

import pytest

from engine import places as module
from engine.errors import InputError
from engine.places import Places


class GaveUp(Exception):
    pass


def silent(*_):
    pass


def test_no_more_than_there_are_places():
    """Of eight that come together, never more than two are under way."""
    places, lock = Places(2), threading.Lock()
    under_way, most, both = [0], [0], threading.Barrier(2, timeout=20)

    def work():
        with places.taken(silent):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            both.wait()  # until another one is under way too: they do run side by side
            with lock:
                under_way[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert most == [2]
    assert under_way == [0]


def test_who_waits_is_told_and_may_give_up():
    """What stops a job that runs, a change in the sidebar, stops its wait as well."""
    places, heard = Places(1), []

    def report(share, sentence):
        heard.append((share, sentence))
        raise GaveUp

    with places.taken(silent), pytest.raises(GaveUp), places.taken(report):
        raise AssertionError("there was no place")
    assert heard == [(0.0, "waiting for one of 1 jobs of other visitors to end")]
    with places.taken(report):  # the place is free again
        pass


def test_a_wait_has_an_end(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    places = Places(1)
    with (
        places.taken(silent),
        pytest.raises(InputError, match="try again in a minute"),
        places.taken(silent),
    ):
        raise AssertionError("there was no place")


def test_what_fails_leaves_its_place():
    places = Places(1)
    for _ in range(3):
        with pytest.raises(GaveUp), places.taken(silent):
            raise GaveUp
