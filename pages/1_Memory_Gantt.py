"""Memory Gantt: who held which memory when, and why did a request wait."""

import streamlit as st

from engine.figures.gantt import describe_gantt, draw_gantt
from engine.measure.per_request import per_request
from pages.parts import show
from pages.parts.frame import page
from pages.parts.gantt.controls import (
    ask_lines,
    ask_policy,
    ask_replica,
    ask_request,
    ask_window,
    pin_clicked,
)
from pages.parts.gantt.story import in_memory_at, memory_headline, tell_story
from pages.parts.jobs import needed
from pages.parts.runs import run_job
from pages.parts.view import View


def draw(view: View) -> None:
    """The memory curve above the bars, a pinned request's story beside them."""
    job = run_job(view, ask_policy(view))
    ((whole,),) = needed([job])
    run = ask_replica(whole)
    st.markdown(f"# {memory_headline(run)}")
    show.left_out(run)
    show.remarks(run.engine.remarks)
    window = ask_window(run)
    packed = ask_lines(run, window)
    chart, aside = st.columns([3, 1], gap="medium")
    with aside:
        pinned = ask_request(run)
        tell_story(run, pinned)
        at = in_memory_at(run, pinned)
    with chart:
        show.figure(
            draw_gantt(run, window, packed, pinned, at),
            describe_gantt(run),
            "memory-gantt",
            zooms=True,
            on_select=pin_clicked,
            selection_mode="points",
        )
    show.download(
        "Requests (CSV)", f"requests-{run.policy}.csv", lambda: per_request(whole, view.workload)
    )


page(
    "Memory Gantt",
    draw,
    icon=":material/view_timeline:",
    question="Who held which memory when, and why did a request wait?",
)
