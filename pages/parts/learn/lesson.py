"""One lesson on the page: its screens, its question, its knob."""

from __future__ import annotations

from functools import cache

import streamlit as st

from engine.figures.curves import draw_curves
from engine.learn.lesson import Lesson, LessonQuestion, LessonStep, load_lessons
from pages.parts import show
from pages.parts.learn.player import play
from pages.parts.link import forget, linked
from pages.parts.store import store

lessons = cache(load_lessons)


def draw_lesson() -> None:
    """The chosen lesson at the chosen step."""
    lesson = _ask_lesson()
    st.markdown(f"# {lesson.asks}")
    knob_slot = st.container()
    with knob_slot:
        value = _ask_knob(lesson)
    steps = store().get(("lesson", lesson.key, value), lambda: lesson.steps(value))
    number = _ask_step(lesson, len(steps))
    _draw_step(steps[number - 1], f"{lesson.key}-{number}-{value}")
    if number == len(steps):
        _offer_next(lesson)


def _ask_lesson() -> Lesson:
    titles = {key: f"{lesson.place}. {lesson.title}" for key, lesson in lessons().items()}
    key = st.selectbox(
        "Lesson",
        list(titles),
        format_func=titles.__getitem__,
        on_change=_begin,
        help="Twelve short paths, each on a tiny instance that the real engine runs.",
        **linked("lesson", next(iter(titles)), options=titles),
    )
    return lessons()[key]


def _begin() -> None:
    """Another lesson begins at its first step, its knob at its default."""
    forget(("step", "knob"))


def _ask_knob(lesson: Lesson) -> int:
    parameter = lesson.parameter
    return st.select_slider(
        parameter.label,
        parameter.values,
        help=parameter.help,
        width=480,
        **linked("knob", parameter.default, int, options=parameter.values),
    )


def _ask_step(lesson: Lesson, steps: int) -> int:
    """The step's number from 1, with buttons to the ones before and after."""
    name = linked("step", 1, int, low=1, high=steps)["key"]
    number = st.session_state[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            disabled=number == 1,
            on_click=_go,
            args=(number - 1,),
            shortcut="Alt+Left" if number > 1 else None,
        )
        st.button(
            "Next",
            icon=":material/arrow_forward:",
            disabled=number == steps,
            on_click=_go,
            args=(number + 1,),
            shortcut="Alt+Right" if number < steps else None,
        )
        st.markdown(f"Step **{number}** of {steps} · {lesson.title}")
    return number


def _go(number: int) -> None:
    st.session_state["step"] = number


def _offer_next(lesson: Lesson) -> None:
    """After the last step: the next lesson, or the game."""
    following = [other for other in lessons().values() if other.place > lesson.place]
    if following:
        st.button(
            f"Next lesson: {following[0].title}",
            icon=":material/school:",
            on_click=_open,
            args=(following[0].key,),
        )
    else:
        st.button("Now beat the scheduler", icon=":material/trophy:", on_click=_to_game)


def _open(key: str) -> None:
    _begin()
    st.session_state["lesson"] = key


def _to_game() -> None:
    st.session_state["part"] = "game"


def _draw_step(step: LessonStep, key: str) -> None:
    """The text, then the question, and once it is answered all the rest."""
    st.markdown(f"## {step.title}")
    st.markdown(step.text)
    if step.question and not _answered(step.question, key):
        return
    if step.runs:
        play(step.runs, f"player-{key}")
    if step.curves:
        show.figure(draw_curves(step.curves), step.curves.in_words(), f"curves-{key}")
    if step.table is not None:
        show.rows(step.table, step.about)
        st.caption(f"{step.about}.")


def _answered(question: LessonQuestion, key: str) -> bool:
    """Ask; say whether it was right and why, and return whether it was answered."""
    chosen = st.radio(
        f"**{question.text}**",
        range(len(question.options)),
        index=None,
        format_func=question.options.__getitem__,
        key=f"answer-{key}",
    )
    if chosen is None:
        st.caption("Choose an answer to see what happens.")
        return False
    if chosen == question.right:
        st.success(f"Right. {question.why}", icon=":material/check_circle:")
    else:
        st.info(
            f"Not quite: {question.options[question.right]}. {question.why}",
            icon=":material/lightbulb:",
        )
    return True
