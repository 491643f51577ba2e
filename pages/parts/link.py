"""The settings of a view: in the address bar, across pages, and back again.

`linked` gives a widget its key and its value; `publish` writes what is not at its
default into the address, which is thereby a link to the view; `follow` takes an
address over where the visitor brought it: on arrival, or by back and forward.

streamlit's own binding of widgets to the address (1.67) loses, on a switch to another
page, what only a link had set, and spells choices by their titles; hence this file.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from pages.parts.literal import literal

MOST_QUOTED = 80  # characters of what a link says
ECHO = 1.0  # seconds in which the browser may still report an address we have replaced


def follow(page: str) -> None:
    """Begin a run of a page: note whether the visitor brought the address, or came from a page."""
    here = {name: tuple(st.query_params.get_all(name)) for name in st.query_params}
    published = st.session_state.setdefault("published", [])
    ours = bool(published) and (here == published[-1][0] or _is_echo(here, published))
    st.session_state["defaults"] = {}
    st.session_state["arriving"] = st.session_state.get("page") != page
    st.session_state["page"] = page
    drawn = set() if st.session_state["arriving"] else st.session_state["drawn"] | _reported()
    st.session_state["drawn"] = drawn
    st.session_state["brought"] = None if ours else here
    if not ours or st.session_state["arriving"]:
        st.session_state["refused"] = {}
    if not ours:
        st.session_state["settings"] = {}
        st.session_state["unread"] = {}


def _is_echo(here: dict, published: list) -> bool:
    """Whether the browser has only not yet taken over the address that replaced this one.

    It may report the old one for a moment, and for longer where the server is busy; but
    who goes back or forward moves no control in the same breath.
    """
    moment, state = time.monotonic(), st.session_state
    after = [at for (before, _), (_, at) in pairwise(published) if before == here]
    settings = state["settings"].items()
    moved = any(name in state and state[name] != value for name, value in settings)
    return bool(after) and (moved or moment - after[-1] < ECHO)


def _reported() -> set[str | None]:
    """The keys of the widgets whose values came with this run: the browser has drawn them."""
    run = get_script_run_ctx()
    sent = run.session_state.get_widget_states() if run else ()
    return {user_key_from_element_id(widget.id) for widget in sent}


def linked(
    name: str,
    default: Any,
    kind: type = str,
    options: Iterable[Any] | None = None,
    low: float = float("-inf"),
    high: float = float("inf"),
    always: bool = False,
) -> dict[str, Any]:
    """The key of a widget whose value is in the link: use it as `widget(.., **linked(..))`.

    Not in a popover: the browser draws what is in one only while it is open, and takes no
    value over while it is closed. An expander's content is always drawn.

    Parameters
    ----------
    name : the widget's key and the parameter's name in the address
    default : the value that is left out of the address; a list where several are chosen
    kind : int, float, bool or str
    options, low, high : what a value may be; anything else becomes the default. Of several
        chosen the known ones stay
    always : write it into the address even at its default, because the default may be
        another where the link is opened
    """
    state = st.session_state
    allowed = None if options is None else list(options)
    texts = _in_link(name)
    if state["brought"] is not None or texts is not None:
        value = _read(texts, default, kind)
    elif state["arriving"]:  # widgets of the page before have lost their values
        value = state["settings"].get(name, default)
    else:
        value = state.get(name, state["settings"].get(name, default))
    if isinstance(default, list):
        known = [item for item in value if item in (allowed or ())]
        value = known if known or not value else default
    elif not _is_valid(value, default, allowed, low, high):
        value = default
    if texts is not None and value != _read(texts, [] if isinstance(default, list) else None, kind):
        state["refused"][name] = texts, value
    if name not in state:
        state["drawn"].discard(name)
    if name not in state["drawn"] or state[name] != value:
        # Until the browser has drawn it: a widget takes over only what the newest run sets,
        # and shows nothing or its least value where an earlier run did. But not after that:
        # the browser may be ahead of us, and would be set back.
        state[name] = value
    state["defaults"][name] = None if always else default
    return {"key": name}


def unseen(name: str) -> Any:
    """The value of a setting that `linked` has read and no widget shows."""
    st.session_state["drawn"].discard(name)
    return st.session_state[name]


def _in_link(name: str) -> tuple[str, ...] | None:
    """What the address that the visitor brought says of a setting, if it was not read before."""
    state = st.session_state
    unread = state.setdefault("unread", {})
    if state["brought"] is not None:
        return state["brought"].get(name)
    return unread.pop(name, None)


def asked_of(name: str) -> tuple[str, ...]:
    """What the address that the visitor brought says of a setting, also where it was refused."""
    state = st.session_state
    brought: dict[str, tuple[str, ...]] = state["brought"] or {}
    return brought.get(name) or state["refused"].get(name, ((), None))[0]


def _read(texts: tuple[str, ...] | None, default: Any, kind: type) -> Any:
    """The value that the address gives, or the default."""
    if texts is None:
        return default
    if isinstance(default, list):
        return list(dict.fromkeys(text for text in texts if text))
    if kind is bool:
        return {"true": True, "false": False}.get(texts[-1], default)
    try:
        return kind(texts[-1])
    except ValueError:
        return default


def _is_valid(value: Any, default: Any, allowed: list | None, low: float, high: float) -> bool:
    if value is None:
        return default is None
    if allowed is not None:
        return value in allowed
    return isinstance(value, str) or low <= value <= high


def is_untouched() -> bool:
    """Whether all settings read so far in this run are at their defaults."""
    state = st.session_state
    return all(state[name] == default for name, default in state["defaults"].items())


def forget(names: Iterable[str]) -> None:
    """Let the named settings go back to their defaults."""
    for name in names:
        for kept in (st.session_state["settings"], st.session_state["unread"], st.session_state):
            kept.pop(name, None)


def publish(complete: bool) -> None:
    """End a run's widgets: keep their values for other pages and write the address.

    A run that ended early, as one that waits for an upload, has not read the whole
    address; what it has not read stays there.
    """
    state = st.session_state
    values = {name: state[name] for name in state["defaults"]}
    state["settings"].update(values)
    address = {
        name: _written(value) for name, value in values.items() if value != state["defaults"][name]
    }
    here = {name: tuple(st.query_params.get_all(name)) for name in st.query_params}
    if complete:
        brought = state["brought"] or {}
        unknown = {name: (texts, None) for name, texts in brought.items() if name not in values}
        state["refused"].update(unknown)
    else:
        unread = {name: texts for name, texts in here.items() if name not in values}
        address |= unread
        state["unread"] = unread
    if address != here:
        st.query_params.from_dict({name: list(texts) for name, texts in address.items()})
    state["published"] = [*state["published"][-9:], (address, time.monotonic())]
    state["brought"] = None


def _written(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(value) or ("",)
    if isinstance(value, bool):
        return ("true" if value else "false",)
    return (f"{value:.12g}" if isinstance(value, float) else str(value),)


def address() -> dict[str, list[str]]:
    """The published settings as query parameters, for links to other pages."""
    published = st.session_state.get("published")
    return {name: list(texts) for name, texts in published[-1][0].items()} if published else {}


def refused_in_words() -> str:
    """Markdown: what of the address could not be used, and what is shown instead, if anything.

    A setting that was moved since is no longer told of.
    """
    state = st.session_state
    refused = []
    for name, (texts, instead) in state["refused"].items():
        quoted = f"“{literal('='.join((name, ','.join(texts))), MOST_QUOTED)}”"
        if name not in state["defaults"]:
            refused.append(f"{quoted} (has no use here)")
        elif state[name] == instead:
            shown = literal(", ".join(_written(instead)) or "nothing", MOST_QUOTED)
            refused.append(f"{quoted} (shown instead: {shown})")
    return f"Of this link, some could not be used: {', '.join(refused)}." if refused else ""
