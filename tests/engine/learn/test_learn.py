"""The Learn page: every step opens by link, questions come before answers, the game plays."""

import pytest

from engine.learn.lesson import load_lessons
from engine.learn.puzzle import REQUESTS, Puzzle
from tests.services.opened_page import open_page, said

LEARN = "pages/8_Learn.py"
LESSONS = load_lessons()
STEPS = [
    (key, number + 1)
    for key, lesson in LESSONS.items()
    for number in range(len(lesson.steps(lesson.parameter.default)))
]


def pictures(at):
    """How many charts and films are drawn."""
    return len(at.get("plotly_chart")) + len(at.get("bidi_component"))


@pytest.mark.parametrize(("lesson", "step"), STEPS)
def test_a_link_opens_a_step(lesson, step):
    """Its title and text are there; a question hides the rest until it is answered."""
    shown = LESSONS[lesson].steps(LESSONS[lesson].parameter.default)[step - 1]
    at = open_page(LEARN, lesson=lesson, step=str(step))
    assert not at.error
    assert f"## {shown.title}" in [mark.value for mark in at.markdown]
    if not shown.question:
        return
    assert pictures(at) == len(at.main.dataframe) == 0
    assert shown.question.why not in said(at)
    wrong = (shown.question.right + 1) % len(shown.question.options)
    for answer, verdict in ((wrong, "Not quite: "), (shown.question.right, "Right. ")):
        at.radio[0].set_value(answer).run()
        told = " ".join(element.value for element in [*at.success, *at.info])
        assert verdict in told
        assert shown.question.why in told
    assert pictures(at) == bool(shown.runs) + bool(shown.curves)


def test_a_lesson_to_its_end_and_on():
    """Next walks through the steps, then offers the lesson after; the knob goes with the lesson."""
    at = open_page(LEARN, lesson="kv-grows", knob="8")
    steps = LESSONS["kv-grows"].steps(8)
    for number in range(2, len(steps) + 1):
        next(button for button in at.button if button.label == "Next").click().run()
        assert at.query_params["step"] == str(number)
    next(button for button in at.button if button.label.startswith("Next lesson")).click().run()
    assert at.query_params["lesson"] == "head-of-line"
    assert "step" not in at.query_params
    assert "knob" not in at.query_params


def test_the_knob_changes_what_is_said():
    """The texts are computed at its value, which is in the link."""
    at = open_page(LEARN, lesson="fat-short", step="2", knob="1")
    assert "no trap here" in said(at)
    at.select_slider(key="knob").set_value(23).run()
    assert "1.71 times as much" in said(at)


@pytest.mark.parametrize("link", [{"lesson": "no-such"}, {"step": "99"}, {"knob": "7"}])
def test_bad_links_fall_back(link):
    """Nonsense opens a lesson, not an error."""
    at = open_page(LEARN, **link)
    assert not at.error


def test_playing_by_clicks():
    """Appending, moving and taking out; the order is in the link, the league has its total."""
    at = open_page(LEARN, part="game", puzzle="2")
    assert "Can you order" in at.markdown[0].value
    pills = {group.key: group for group in at.button_group}
    for request in (5, 3, 7):
        next(group for group in at.button_group if group.key == "append").set_value(request).run()
    assert at.query_params["order"] == "5.3.7"
    assert pills["append"].options
    next(group for group in at.button_group if group.key == "selected").set_value(7).run()
    next(button for button in at.button if button.label == "Earlier").click().run()
    assert at.query_params["order"] == "5.7.3"
    for label in ("Earlier", "Earlier", "Later", "Later", "Later", "Earlier"):
        next(button for button in at.button if button.label == label).click().run()
    assert at.query_params["order"] == "5.7.3"
    next(button for button in at.button if button.label == "Take out").click().run()
    assert at.query_params["order"] == "5.3"
    mine = Puzzle(2).play([5, 3]).latency.sum()
    league = at.main.dataframe[0].value
    assert league.loc[league["Order"] == "Your order", "Total latency (rounds)"].item() == str(
        int(mine)
    )


def test_the_policy_s_order_ties():
    """svf's own order by link needs what svf needs; one that is better wins."""
    puzzle = Puzzle(2)
    order = puzzle.rivals["svf"].order.tolist()
    at = open_page(LEARN, part="game", puzzle="2", order=".".join(map(str, order)))
    svf = int(puzzle.rivals["svf"].latency.sum())
    assert f"Your order needs {svf} rounds" in at.markdown[0].value
    while move := puzzle.best_move(order):
        order = [i for i in order if i != move.request]
        order.insert(move.place, move.request)
    at = open_page(LEARN, part="game", puzzle="2", order=".".join(map(str, order)))
    best = int(puzzle.play(order).latency.sum())
    assert ("You win" in at.markdown[0].value) == (best < svf)


def test_hint_and_bad_order():
    """A hint names one move; an order that is none is none."""
    at = open_page(LEARN, part="game", puzzle="2", order="5.5")
    assert "Can you order" in at.markdown[0].value
    at = open_page(LEARN, part="game", puzzle="2", order="5")
    next(button for button in at.button if button.label == "Hint").click().run()
    move = Puzzle(2).best_move([5])
    assert f"Put #{move.request} at place {move.place + 1}" in said(at)
    assert len(at.button_group) >= 2
    assert len(Puzzle(2).completed([5])) == REQUESTS
