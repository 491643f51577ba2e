"""Learn: lessons with tiny instances, and a game against the policies."""

import streamlit as st

from pages.parts.frame import page
from pages.parts.learn.game import draw_game
from pages.parts.learn.lesson import draw_lesson
from pages.parts.link import linked
from pages.parts.view import View

PARTS = {"lessons": "Lessons", "game": "Beat the scheduler"}


def draw(view: View) -> None:
    """One of the two parts; both bring requests of their own."""
    part = st.segmented_control(
        "Part",
        list(PARTS),
        format_func=PARTS.__getitem__,
        label_visibility="collapsed",
        required=True,
        **linked("part", "lessons", options=list(PARTS)),
    )
    (draw_game if part == "game" else draw_lesson)()
    st.caption("Requests and M are this page's own; the sidebar's scenario is for the other pages.")


page(
    "Learn",
    draw,
    icon=":material/school:",
    question="Why is one order better than another? Lessons to step through, and a game.",
)
