"""Two saved views side by side: what was changed, and what that did to every policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from engine import wording
from engine.saved import Difference, Kept, compare
from engine.saved.comparison import ChangeEffect
from pages.parts import show
from pages.parts.literal import literal, sentence
from pages.parts.saved.list import pick

FIELD = "Field"  # the heading of the names, which a view may be called too


def tell_comparison(views: Sequence[Kept]) -> None:
    """The two to choose, the answer, the changed fields and the policies."""
    st.markdown("## What did the change do?")
    if len(views) < 2:
        st.caption("Save a second view to compare it with this one.")
        return
    left, right = st.columns(2)
    with left:
        before = pick("From", "before", views, 1)
    with right:
        after = pick("To", "after", views, 0)
    difference = compare(before.snapshot, after.snapshot)
    st.markdown(sentence(difference.in_words()))
    if not difference.same_engine:
        st.warning(
            "Different versions of the engine computed the two: part of the difference may be "
            "theirs. Open both and save them again.",
            icon=":material/history:",
        )
    if before.snapshot.unit != after.snapshot.unit:
        st.caption("One is in rounds, the other in seconds: their times are not compared.")
    _changes(difference, before.name, after.name)
    _effects(difference)


def _changes(difference: Difference, before: str, after: str) -> None:
    if not difference.changes:
        return
    is_clear = len({before, after, FIELD}) == 3
    names = [before, after] if is_clear else [f"{before} (from)", f"{after} (to)"]
    table = pd.DataFrame(
        {
            FIELD: [change.name for change in difference.changes],
            names[0]: [change.written_before for change in difference.changes],
            names[1]: [change.written_after for change in difference.changes],
        }
    )
    st.dataframe(table, hide_index=True, alt="What differs between the two views")


def _effects(difference: Difference) -> None:
    if not difference.effects:
        return
    rows = [_row(effect) for effect in difference.effects]
    show.rows(pd.DataFrame(rows), "Every policy in both views")
    over = any(effect.overloaded for effect in difference.effects)
    more = " Overloaded: latency grows with the horizon, so there is none to compare."
    st.caption(f"Times in {literal(difference.unit)}.{more if over else ''}")


def _row(effect: ChangeEffect) -> dict[str, str]:
    return {
        "Policy": effect.policy,
        "Mean before": _time(effect.before, "mean_latency"),
        "Mean after": _time(effect.after, "mean_latency"),
        "Change": "–" if effect.gain is None else wording.change(100 * effect.gain) + "\u202f%",
        "P99 before": _time(effect.before, "p99_latency"),
        "P99 after": _time(effect.after, "p99_latency"),
        "Gap before": wording.gap(effect.before.get("gap")),
        "Gap after": wording.gap(effect.after.get("gap")),
    }


def _time(result: Mapping, name: str) -> str:
    return "overloaded" if result["load"] == "overloaded" else wording.number(result.get(name))
