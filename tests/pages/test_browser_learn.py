"""Lessons and the game in a real browser, where films play without the server."""

import re

import pytest

from engine.learn.lesson import load_lessons
from engine.learn.puzzle import Puzzle
from tests.services import browser

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)


def press(page, name):
    page.get_by_role("button", name=name, exact=False).first.click()
    browser.settled(page)


def pill(page, request):
    """The request among those to click on."""
    return page.get_by_text(re.compile(rf"^#{request} · "))


def rounds_told(page):
    """What the films say about the round they are at."""
    return [line.inner_text() for line in page.locator(".told").all()]


def test_a_lesson_to_its_end(server, visitor):
    """Answer, step on, and the next lesson; the address always names the step."""
    steps = load_lessons()["head-of-line"].steps(0)
    visitor.goto(f"{server}/Learn?lesson=head-of-line")
    browser.settled(visitor)
    assert visitor.locator(".film").count() == 0
    question = steps[0].question
    visitor.get_by_text(question.options[question.right], exact=True).click()
    browser.settled(visitor)
    assert visitor.get_by_text("Right. ").count() == 1
    assert visitor.locator(".film svg").count() == 1
    for number in range(2, len(steps) + 1):
        visitor.keyboard.press("Alt+ArrowRight")
        browser.settled(visitor)
        assert f"step={number}" in visitor.url
    assert visitor.locator(".film svg").count() == 2
    press(visitor, "Next lesson")
    assert "lesson=fat-short" in visitor.url
    assert "step" not in visitor.url


def test_a_film_by_keyboard_and_by_play(server, visitor):
    """Arrows step, Home and End jump, play goes on by itself and pauses."""
    visitor.goto(f"{server}/Learn?lesson=head-of-line&step=2")
    browser.settled(visitor)
    slider = visitor.get_by_label("Round", exact=True)
    slider.focus()
    visitor.keyboard.press("ArrowRight")
    assert rounds_told(visitor)[0].startswith("After round 1: 10 of 20")
    visitor.keyboard.press("ArrowRight")
    visitor.keyboard.press("ArrowRight")
    assert visitor.locator(".film svg .over").text_content() == "#1: +11 over M"
    visitor.keyboard.press("End")
    assert "All done: total latency 92 rounds" in rounds_told(visitor)[0]
    visitor.keyboard.press("Home")
    assert rounds_told(visitor)[0].startswith("After round 0")
    visitor.get_by_role("button", name="Play").click()
    visitor.wait_for_timeout(1700)
    visitor.get_by_role("button", name="Pause").click()
    (told,) = rounds_told(visitor)
    assert int(re.match(r"After round (\d+)", told)[1]) >= 1
    visitor.wait_for_timeout(900)
    assert rounds_told(visitor) == [told]


def test_a_link_brings_step_and_knob(server, visitor):
    """The knob's value is in what is said."""
    visitor.goto(f"{server}/Learn?lesson=fat-short&step=2&knob=1")
    browser.settled(visitor)
    assert visitor.get_by_text("no trap here").count() == 1


def test_quick_moves_are_all_kept(server, visitor):
    """A knob moved on while the page still computes ends where it was moved to, in the link too."""
    visitor.goto(f"{server}/Learn?lesson=thrash&step=3")
    browser.settled(visitor)
    visitor.wait_for_timeout(1200)  # the address is no news any more
    visitor.locator('[data-testid="stMain"] [data-testid="stSlider"] input').first.focus()
    for _ in range(3):
        visitor.keyboard.press("ArrowRight")
        visitor.wait_for_timeout(200)
    visitor.wait_for_url("**knob=30**", timeout=15_000)
    visitor.locator(".film h3", has_text="watermark 30").wait_for()
    visitor.wait_for_timeout(1500)
    assert "knob=30" in visitor.url
    assert "watermark 30" in visitor.locator(".film h3").inner_text()


def test_the_game_and_its_link(server, visitor, chromium):
    """Click an order together; whoever gets the link sees the same order and total."""
    puzzle = Puzzle(2)
    visitor.goto(f"{server}/Learn?part=game&puzzle=2")
    browser.settled(visitor)
    for request in (9, 3):
        pill(visitor, request).click()
        browser.settled(visitor)
    assert "order=9.3" in visitor.url
    pill(visitor, 3).click()
    browser.settled(visitor)
    press(visitor, "Earlier")
    assert "order=3.9" in visitor.url
    total = int(puzzle.play([3, 9]).latency.sum())
    assert f"needs {total} rounds" in visitor.locator("h1").inner_text()
    context = chromium.new_context()
    friend = context.new_page()
    friend.goto(visitor.url)
    browser.settled(friend)
    assert friend.locator("h1").inner_text() == visitor.locator("h1").inner_text()
    context.close()


def test_the_optimum_on_request(server, visitor):
    """It is computed when asked for, and nobody without preemption is above it."""
    visitor.goto(f"{server}/Learn?part=game&puzzle=3")
    browser.settled(visitor)
    press(visitor, "Show the optimum")
    visitor.get_by_role("button", name="Show the optimum").wait_for(state="detached")
    browser.settled(visitor)
    assert visitor.get_by_role("button", name="Cancel").count() == 0
    grid = visitor.locator('[data-testid="stMain"] [data-testid="stDataFrame"]').first
    assert "optimum" in grid.inner_text() or grid.locator("canvas").count() >= 1
