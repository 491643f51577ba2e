"""The clock: rounds, or seconds on a GPU whose round times are known and can be edited."""

from __future__ import annotations

import streamlit as st

from engine.errors import InputError
from engine.machine.clock import LONGEST, ROUNDS, Clock, seconds_clock
from engine.machine.hardware import Preset, shipped_presets
from engine.machine.own_presets import delete, listed, rename
from engine.machine.preset_text import PREFIX, is_own, write_preset
from engine.mode import current_mode
from pages.parts.fold import Fold
from pages.parts.link import MOST_QUOTED, forget, linked
from pages.parts.literal import literal

FIELDS = {  # name: (label, how many of its unit a second has, help)
    "c0": ("c0 (ms)", 1e3, "A round takes this long anyway: reading the weights."),
    "c1": ("c1 (µs a token)", 1e6, "For each token of the round beyond N0: computing."),
    "N0": ("N0 (tokens)", 1.0, "So many tokens ride along while the weights are read."),
    "c2": ("c2 (ns a token)", 1e9, "For each token of KV cache that is read."),
    "c3": ("c3 (µs a request)", 1e6, "For each request that decodes."),
}
AS_LINKED = "as the link has it: the preset itself is not kept here"


def ask_preset() -> Preset | None:
    """Whose seconds to count; None for rounds."""
    own, warning = _own()
    known = shipped_presets() | own
    known |= _of_link(known)
    titles = {"rounds": "Rounds (the papers' model)"}
    titles |= {key: preset.title for key, preset in known.items()}
    key = st.selectbox(
        "Clock",
        titles,
        format_func=titles.__getitem__,
        on_change=forget,
        args=(FIELDS,),
        help="Rounds: every batch iteration counts 1. A GPU: iterations take the seconds that its "
        "round times say, and arrivals are in seconds. Presets of your own come from a benchmark: "
        "drop its result on the Trace audit page.",
        **linked("clock", "rounds", options=titles),
    )
    if warning:
        st.caption(f":material/warning: {literal(warning)}")
    preset = st.session_state["preset"] = known.get(key)  # the database is asked once a run
    return preset


def _own() -> tuple[dict[str, Preset], str]:
    """The user's own, and what to say of those that cannot be offered."""
    try:
        own, unreadable = listed()
    except InputError as problem:
        return {}, f"Presets of your own are not offered: {problem}."
    count = "One preset" if len(unreadable) == 1 else f"{len(unreadable)} presets"
    warning = f"{count} of your own cannot be read: the page Saved says why."
    return own, warning if unreadable else ""


def _of_link(known: dict[str, Preset]) -> dict[str, Preset]:
    """The preset of a link, where it is kept on another server: the link holds its times."""
    state = st.session_state
    if state["brought"] is not None:
        key, holds = state["brought"].get("clock", ("",))[-1], state["brought"]
    else:
        key, holds = state.get("clock", state["settings"].get("clock", "")), state["settings"]
    if key in known or not is_own(key):
        return {}
    if not all(name in holds for name in FIELDS):
        key_shown = literal(key, MOST_QUOTED)
        st.warning(f"There is no preset {key_shown} here: time is counted in rounds.")
        return {}
    title = f"{key.removeprefix(PREFIX)} (as linked)"
    return {key: Preset(key, title, "", "", 1, seconds_clock(1.0), None, AS_LINKED)}


def ask_round_times(preset: Preset | None) -> Clock:
    """The clock of a preset, with coefficients to edit."""
    if preset is None:
        return ROUNDS
    with Fold(st.expander, "Round times", icon=":material/timer:") as fold:
        error = f", mean error {preset.error_percent:g} %" if preset.error_percent else ""
        st.caption(
            f"T = c0 + c1·max(0, N − N0) + c2·K + c3·B for N tokens in the round, K tokens of KV "
            f"cache read and B requests decoding. Fit: {literal(preset.fit)}{error}."
        )
        coefficients = []
        for (name, (label, units, help_text)), value in zip(
            FIELDS.items(), preset.clock.step, strict=True
        ):
            default = round(value * units, 9)
            asked = fold.control(st.number_input)(
                label,
                0.0,
                LONGEST * units,
                format="%.5g",
                help=help_text,
                # A link to a preset of one's own holds its times, for those who lack it.
                **linked(
                    name, default, float, low=0.0, high=LONGEST * units, always=is_own(preset.key)
                ),
            )
            coefficients.append(value if asked == default else asked / units)
        if fold.is_open and is_own(preset.key) and preset.fit != AS_LINKED:
            _offer_change(preset)
    return seconds_clock(*coefficients)


def _offer_change(preset: Preset) -> None:
    """Rename, export or delete a preset of the user's own."""
    with st.popover("Change or export", icon=":material/edit:", width="stretch"):
        mode = current_mode()
        about = "Everybody who uses this server or its database sees its saved presets."
        if not mode.is_shared:
            about = f"Kept {mode.audience}."
        st.caption(f"{about} {mode.deleted_in_words}".rstrip())
        title = st.text_input("Name", preset.title, key=f"title of {preset.key}")
        st.button("Rename", on_click=_rename, args=(preset, title), width="stretch")
        st.download_button(
            "Export (JSON)",
            data=write_preset(preset),
            file_name=f"{preset.key}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
            help="To edit by hand or to hand out: the page Saved reads it back.",
        )
        st.button(
            "Delete",
            icon=":material/delete:",
            on_click=_delete,
            args=(preset,),
            width="stretch",
        )


def _rename(preset: Preset, title: str) -> None:
    try:
        renamed = rename(preset.key, title)
    except InputError as problem:
        st.toast(literal(problem), icon=":material/edit:")
        return
    st.session_state["clock"] = renamed.key
    st.toast(literal(f"{preset.title} is now {renamed.title}."))


def _delete(preset: Preset) -> None:
    try:
        delete(preset.key)
    except InputError as problem:
        st.toast(literal(problem), icon=":material/edit:")
        return
    st.session_state["clock"] = "rounds"
    forget(FIELDS)
    st.toast(literal(f"{preset.title} is deleted; time is counted in rounds again."))
