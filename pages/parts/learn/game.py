"""Beat the scheduler: order a dozen requests by hand, against the policies and the optimum."""

from __future__ import annotations

from datetime import date

import pandas as pd
import streamlit as st

from engine import Run, find_method, wording
from engine.bound import best_cover
from engine.improve.hindsight import Hindsight, best_in_hindsight
from engine.learn.puzzle import MEMORY, MOST_SEED, REQUESTS, Puzzle, read_order, write_order
from pages.parts import show
from pages.parts.jobs import Job, finished, offer
from pages.parts.learn.player import play
from pages.parts.link import linked
from pages.parts.store import store

SECONDS = 20.0  # for the optimum, at most; most puzzles take one or two


def draw_game() -> None:
    """The puzzle, the order, its run, and the league."""
    headline = st.empty()
    puzzle = _ask_puzzle()
    order = _ask_order(puzzle)
    run = puzzle.play(order)
    optimum = _optimum(puzzle)
    headline.markdown(f"# {_verdict(puzzle, order, run)}")
    play({f"Your order, {wording.total(run.latency.sum())} rounds": run}, "player-game")
    _league(puzzle, run, optimum)


def _ask_puzzle() -> Puzzle:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input(
            "Puzzle",
            0,
            MOST_SEED,
            help="The same number draws the same requests for everybody.",
            on_change=_clear,
            width=180,
            **linked("puzzle", 1, int, low=0, high=MOST_SEED),
        )
        st.button("Today's puzzle", icon=":material/today:", on_click=_today)
    return store().get(("puzzle", seed), lambda: Puzzle(seed))


def _today() -> None:
    st.session_state["puzzle"] = int(f"{date.today():%Y%m%d}")
    _clear()


def _clear() -> None:
    st.session_state["order"] = ""


def _ask_order(puzzle: Puzzle) -> list[int]:
    """The order so far: click to append, select to move."""
    key = linked("order", "", str)["key"]
    order = read_order(st.session_state[key])
    prompt, output = puzzle.workload.prompt, puzzle.workload.output

    def name(i: int) -> str:
        return f"#{i} · {prompt[i]}+{output[i]}"

    left = [i for i in range(REQUESTS) if i not in order]
    st.markdown(
        f"Twelve requests wait, prompt + output tokens each, M = {MEMORY}. Say who starts first: "
        "each starts as soon as it fits, and nobody passes. Least total latency wins."
    )
    if left:
        st.pills("Click who starts next", left, format_func=name, key="append", on_change=_append)
    if order:
        st.pills("Your order; select one to move it", order, format_func=name, key="selected")
        _ask_moves(puzzle, order)
    return order


def _append() -> None:
    chosen = st.session_state["append"]
    if chosen is not None:
        _set([*read_order(st.session_state["order"]), chosen])
    st.session_state["append"] = None


def _set(order: list[int]) -> None:
    st.session_state["order"] = write_order(order)


def _ask_moves(puzzle: Puzzle, order: list[int]) -> None:
    selected = st.session_state["selected"]
    place = order.index(selected) if selected in order else None
    moves = (
        ("Earlier", ":material/arrow_back:", -1, "Alt+Left"),
        ("Later", ":material/arrow_forward:", 1, "Alt+Right"),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, by, shortcut in moves:
            # Never off at the ends: the browser would take the keys for its own back and forward.
            st.button(
                label,
                icon=icon,
                disabled=place is None,
                shortcut=None if place is None else shortcut,
                on_click=_move,
                args=(order, place, by),
            )
        st.button("Take out", icon=":material/undo:", on_click=_take_out, args=(order, place))
        st.button("Clear", icon=":material/delete:", on_click=_clear)
        if st.button("Hint", icon=":material/lightbulb:"):
            st.caption(_hint(puzzle, order))


def _move(order: list[int], place: int, by: int) -> None:
    moved = [i for i in order if i != order[place]]
    moved.insert(max(0, place + by), order[place])
    _set(moved)


def _take_out(order: list[int], place: int | None) -> None:
    """The selected one, or the last."""
    gone = len(order) - 1 if place is None else place
    _set(order[:gone] + order[gone + 1 :])
    st.session_state["selected"] = None


def _hint(puzzle: Puzzle, order: list[int]) -> str:
    move = puzzle.best_move(order)
    if move is None:
        return "No single move helps from here; several at once may."
    return (
        f"Put #{move.request} at place {move.place + 1}: that saves "
        f"{wording.amount(move.saves, 'rounds')}."
    )


def _verdict(puzzle: Puzzle, order: list[int], run: Run) -> str:
    """How the order does against the best policy."""
    if not order:
        return "Can you order twelve requests better than the policies do?"
    total = float(run.latency.sum())
    totals = {key: float(run.latency.sum()) for key, run in puzzle.rivals.items()}
    best = min(totals, key=totals.__getitem__)
    needs = f"Your order needs {wording.total(total)} rounds"
    if len(order) < REQUESTS:
        return f"{needs}, the {REQUESTS - len(order)} left in their given order"
    against = f"{best}, the best policy here, needs {wording.total(totals[best])}"
    if total < totals[best]:
        return f"You win: {needs.lower()}, {against}"
    return f"{needs}; {against}"


def _optimum(puzzle: Puzzle) -> Hindsight | None:
    """The best schedule there is, once it was asked for."""
    job = Job(
        key=("puzzle", puzzle.seed, "optimum"),
        title="the optimum",
        seconds=2.0,
        compute=lambda progress: best_in_hindsight(puzzle.workload, MEMORY, SECONDS, progress),
    )
    computed = finished([job])
    offer([job], "Show the optimum")
    return computed[0] if computed else None


def _league(puzzle: Puzzle, run: Run, optimum: Hindsight | None) -> None:
    bounds = store().get(
        ("puzzle", puzzle.seed, "bounds"),
        lambda: find_method("lp").bounds(puzzle.workload, MEMORY),
    )
    runs = {"Your order": run, **puzzle.rivals}
    if optimum:
        proved = "the optimum without preemption" if optimum.proved else "the best found"
        runs[proved.capitalize()] = optimum.run
    ranked = sorted(runs.items(), key=lambda item: item[1].latency.sum())
    covers = [best_cover(run, bounds) for _, run in ranked]
    table = pd.DataFrame(
        {
            "Order": [label for label, _ in ranked],
            "Total latency (rounds)": [wording.total(run.latency.sum()) for _, run in ranked],
            "Above its bound": [
                wording.gap(float(run.latency.sum()) / cover.value) if cover else "–"
                for (_, run), cover in zip(ranked, covers, strict=True)
            ],
        }
    )
    show.rows(table, "Your order against the policies, least total latency first")
    (kept,) = (bound for bound in bounds if not bound.covers_preemption)
    st.caption(
        f"No schedule that keeps every KV cache needs less than {wording.number(kept.value)} "
        "rounds (LP bound, certified). The address of this page is a link to this puzzle and your "
        "order."
    )
