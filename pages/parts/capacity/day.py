"""A day of changing rates, on the Capacity page: servers by the hour, cost against waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from engine import Workload, wording
from engine.capacity import day
from engine.capacity.day import DayPlan, daily_curve, hourly_rates, plans, read_rates
from engine.capacity.draws import Draws
from engine.capacity.rate import Capacity
from engine.figures.day import describe_day, describe_pareto, draw_day, draw_pareto
from engine.scale_out import where
from pages.parts import show
from pages.parts.capacity.controls import Planning, clock_step, in_clock
from pages.parts.jobs import Job, finished, offer
from pages.parts.link import linked
from pages.parts.view import View

PEAK = 5  # times the present rate, unless another peak is given
SEEDS = 2  # for every hour, spare server and policy
CURVE, NUMBERS, TRACE = "curve", "numbers", "trace"
KINDS = {CURVE: "A daily curve", NUMBERS: "24 numbers of my own", TRACE: "The trace's own hours"}


def tell_day(view: View, planning: Planning, capacities: Sequence[Capacity]) -> None:
    """The day to choose, its plans, and the front of cost against waiting."""
    st.markdown("## Over a day")
    if view.deployment.topology.pools:
        st.caption("Sought for servers that all do everything, not for pools.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rates = _ask_rates(view, planning)
        start_up = _ask_start_up()
    jobs = [_job(planning, capacity, rates) for capacity in capacities if capacity.rate]
    done = [plan for of_policy in finished(jobs) for plan in of_policy]
    if done:
        _draw(view, planning, done, start_up)
    else:
        st.caption(
            "The fewest servers for every hour, under each policy, and what they cost."
            if jobs
            else "No policy carries any rate within the limits, with however many servers."
        )
    offer(jobs, "Plan the day")


def _ask_rates(view: View, planning: Planning) -> tuple[float, ...]:
    source = planning.draws.source
    has_hours = isinstance(source, Workload) and not view.deployment.clock.is_rounds
    kinds = [kind for kind in KINDS if kind != TRACE or has_hours]
    kind = st.selectbox(
        "The day",
        kinds,
        format_func=KINDS.__getitem__,
        width=240,
        **linked("day", CURVE, options=kinds),
    )
    if kind == TRACE and isinstance(source, Workload):
        return hourly_rates(source)
    if kind == NUMBERS:
        start = " ".join(f"{rate:.3g}" for rate in daily_curve(PEAK * planning.draws.rate))
        text = st.text_input(f"Requests a {clock_step(view)}, by hour", **linked("rates", start))
        return read_rates(text)
    default = float(f"{PEAK * planning.draws.rate:.3g}")
    peak = st.number_input(
        f"Peak (requests a {clock_step(view)})",
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


def _job(planning: Planning, capacity: Capacity, rates: tuple[float, ...]) -> Job:
    draws = Draws(planning.draws.source, min(SEEDS, planning.draws.how_many))
    question = replace(planning.question, draws=draws)
    return Job(
        key=("day", question, capacity.choice, rates),
        title=f"a day under {capacity.choice.key}",
        seconds=day.seconds(capacity, question, rates),
        compute=lambda progress: plans(capacity, question, rates, where(), progress),
    )


def _draw(view: View, planning: Planning, done: Sequence[DayPlan], start_up: float) -> None:
    def cost(plan: DayPlan) -> float:
        return plan.cost(planning.price, start_up)

    st.markdown(day.in_words(done, planning.price, start_up))
    hours, front = st.columns(2, gap="medium")
    with hours:
        show.figure(draw_day(done), describe_day(done), "day-servers")
    with front:
        unit = view.deployment.unit
        show.figure(
            draw_pareto(done, cost, unit, planning.objective.percent),
            describe_pareto(done, cost, unit),
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
