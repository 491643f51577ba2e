"""Pages that are asked for at once are drawn one after the other."""

import threading
import time

import pytest

from pages.parts.turns import Turns

LONG = 30.0  # seconds: more than any test takes


def test_one_after_the_other():
    """First come, first served, and never two at a time."""
    turns, drawn, at_once, most = Turns(LONG), [], [], []
    hold = threading.Event()

    def take(name):
        with turns.turn():
            at_once.append(name)
            most.append(len(at_once))
            if name == 0:
                hold.wait(LONG)
            time.sleep(0.001)
            drawn.append(name)
            at_once.remove(name)

    threads = []
    for name in range(8):
        threads.append(threading.Thread(target=take, args=(name,)))
        threads[-1].start()
        while turns.waiting + len(most) <= name:
            time.sleep(0.001)
    hold.set()
    for thread in threads:
        thread.join(LONG)
    assert drawn == list(range(8))
    assert max(most) == 1


def test_who_takes_long_keeps_nobody_waiting():
    """As one who reads a large trace: the next begins beside it, and then the next but one."""
    turns, hold, drawn = Turns(0.05), threading.Event(), []

    def take(name):
        with turns.turn():
            drawn.append(name)
            hold.wait(LONG)

    threads = [threading.Thread(target=take, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + LONG
    while len(drawn) < 3 and time.monotonic() < until:
        time.sleep(0.005)
    assert sorted(drawn) == [0, 1, 2]
    hold.set()
    for thread in threads:
        thread.join(LONG)
    with turns.turn():
        pass


def test_a_page_that_fails_ends_its_turn():
    turns = Turns(LONG)
    with pytest.raises(ZeroDivisionError), turns.turn():
        raise ZeroDivisionError
    with turns.turn():
        pass
