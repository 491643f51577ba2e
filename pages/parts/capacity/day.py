"""A day of changing rates, on the Capacity page: servers by the hour, cost against waiting."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import Workload, wording
from engine.capacity import day
from engine.capacity.day import DayPlan, daily_curve, hourly_rates, plans, read_rates
from engine.capacity.draws import Draws
from engine.capacity.rate import Capacity
from engine.figures.day import describe_day, describe_pareto, draw_day, draw_pareto
from pages.parts import show
from pages.parts.capacity.controls import Question, each, in_clock
from pages.parts.capacity.rates import key_of
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import linked
from pages.parts.view import Choice, View

PEAK = 5  # times the present rate, unless another peak is given
SEEDS = 2  # for every hour, spare server and policy
CURVE, NUMBERS, TRACE = "curve", "numbers", "trace"
KINDS = {CURVE: "A daily curve", NUMBERS: "24 numbers of my own", TRACE: "The trace's own hours"}


def tell_day(view: View, question: Question, found: Sequence[Capacity]) -> None:
    """The day to choose, its plans, and the front of cost against waiting."""
    st.markdown("## Over a day")
    if view.topology.pools:
        st.caption("Sought for servers that all do everything, not for pools.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rates = _ask_rates(view, question)
        start_up = _ask_start_up()
    jobs = [_job(view, question, capacity, rates) for capacity in found if capacity.rate]
    done = [plan for each_policy in finished(jobs) for plan in each_policy]
    if done:
        _draw(view, question, done, start_up)
    else:
        st.caption(
            "The fewest servers for every hour, under each policy, and what they cost."
            if jobs
            else "No policy carries any rate within the limits, with however many servers."
        )
    offer(jobs, "Plan the day")


def _ask_rates(view: View, question: Question) -> tuple[float, ...]:
    has_hours = isinstance(question.draws.source, Workload) and not view.clock.is_rounds
    kinds = [kind for kind in KINDS if kind != TRACE or has_hours]
    kind = st.selectbox(
        "The day", kinds, format_func=KINDS.get, width=240, **linked("day", CURVE, options=kinds)
    )
    if kind == TRACE:
        return hourly_rates(question.draws.source)
    if kind == NUMBERS:
        start = " ".join(f"{rate:.3g}" for rate in daily_curve(PEAK * question.draws.rate))
        text = st.text_input(f"Requests a {each(view)}, by hour", **linked("rates", start))
        return read_rates(text)
    default = float(f"{PEAK * question.draws.rate:.3g}")
    peak = st.number_input(
        f"Peak (requests a {each(view)})",
        1e-4,
        1e6,
        value=None,
        placeholder=f"{default:g}",
        format="%.4g",
        width=240,
        **linked(in_clock("peak", view), None, float, low=1e-4, high=1e6),
    )
    return daily_curve(peak or default)


def _ask_start_up() -> float:
    minutes = st.number_input(
        "Minutes a server takes to start",
        0.0,
        600.0,
        step=1.0,
        width=240,
        help="Paid for each server that joins, before it serves.",
        **linked("start_up", 5.0, float, low=0.0, high=600.0),
    )
    return minutes / 60


def _job(view: View, question: Question, capacity: Capacity, rates: tuple[float, ...]) -> Job:
    choice = Choice(capacity.policy, capacity.params)
    draws = Draws(question.draws.source, min(SEEDS, question.draws.how_many))
    given = (choice.policy, dict(choice.params), draws, view.memory, rates)
    return Job(
        key=(*key_of(view, question), "day", choice, rates),
        title=f"a day under {choice.key}",
        seconds=day.seconds(choice.policy, draws, rates, capacity, view.topology),
        compute=lambda progress: plans(
            *given, capacity, question.objective, view.clock, view.topology, progress, question.on
        ),
    )


def _draw(view: View, question: Question, done: Sequence[DayPlan], start_up: float) -> None:
    def cost(plan: DayPlan) -> float:
        return plan.cost(question.price, start_up)

    st.markdown(day.in_words(done, question.price, start_up))
    hours, front = st.columns(2, gap="medium")
    with hours:
        show.figure(draw_day(done), describe_day(done), "day-servers")
    with front:
        given = (cost, view.clock.unit)
        show.figure(
            draw_pareto(done, *given, question.objective.percent),
            describe_pareto(done, *given),
            "day-pareto",
        )
    st.caption(
        "Left: the fewest servers that carry each hour's rate. Right: each dot has so many spare "
        "servers in every hour; rings mark the plans that no other beats in both."
    )
    with st.expander("Hour by hour", icon=":material/schedule:"):
        _table(done)


def _table(done: Sequence[DayPlan]) -> None:
    leanest = [plan for plan in done if plan.spare == 0]
    table = pd.DataFrame(
        {
            "Hour": [str(hour) for hour in range(len(leanest[0].rates))],
            "Rate": [wording.number(rate) for rate in leanest[0].rates],
            **{plan.label: [wording.count(count) for count in plan.servers] for plan in leanest},
        }
    )
    show.rows(table, "Rate and fewest servers by hour and policy")
    show.download("Servers by hour (CSV)", "day.csv", lambda: table)
