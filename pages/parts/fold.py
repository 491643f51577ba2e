"""Controls that are folded away, and built only while somebody looks at them.

What a link sets, or what was set before the fold was closed, counts all the same. While work is
under way all are built, and opening is the browser's own business: to draw the page again would
stop the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.link import unseen

KEY = "fold "  # and the label: whether it is open, in the session


class Fold:
    """An expander or a popover.

    Parameters
    ----------
    kind : `st.expander` or `st.popover`
    label, look : as it takes them

    Attributes
    ----------
    is_open : whether its content is to be built
    """

    def __init__(self, kind: Callable[..., Any], label: str, **look) -> None:
        state, key = st.session_state, KEY + label
        unfolded = state.setdefault("unfolded", {})
        if state.get("asked"):  # see pages/parts/jobs.py
            self._box, self.is_open = kind(label, **look), True
            return
        if key not in state:
            state[key] = unfolded.get(label, False)
        self._box = kind(label, key=key, on_change="rerun", **look)
        self.is_open = unfolded[label] = bool(self._box.open)

    def __enter__(self) -> Fold:
        self._box.__enter__()
        return self

    def __exit__(self, *problem) -> None:
        self._box.__exit__(*problem)

    def control(self, kind: Callable[..., Any]) -> Callable[..., Any]:
        """A linked control such as `st.number_input`, to be called as that is.

        It returns the control's value, also where it is not built.
        """
        return kind if self.is_open else _unbuilt


def _unbuilt(*_, key: str, **__) -> Any:
    return unseen(key)
