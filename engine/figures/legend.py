"""The lines of several charts explained once, above all of them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from engine.figures.palette import DASH, DASHDOT, DOT, SOLID, policy_style

_STROKES = {  # of a line, in pixels: where it is drawn and where not
    SOLID: ((0, 30),),
    DASH: ((0, 8), (11, 19), (22, 30)),
    DOT: ((0, 3), (7, 10), (14, 17), (21, 24), (27, 30)),
    DASHDOT: ((0, 10), (14, 17), (21, 30)),
}


def legend(styles: Mapping[str, str]) -> str:
    """HTML: a stroke and a name for each label, in the style of its policy."""
    return "".join(_item(label, *policy_style(policy)) for label, policy in styles.items())


def _item(label: str, colour: str, dash: str) -> str:
    stroke = "".join(
        f'<span style="position:absolute;left:{begin}px;width:{end - begin}px;height:3px;'
        f'background:{colour}"></span>'
        for begin, end in _STROKES[dash]
    )
    return (
        '<span style="display:inline-block;white-space:nowrap;margin-right:1.2em">'
        '<span style="display:inline-block;position:relative;width:30px;height:3px;'
        f'margin-right:.5em;vertical-align:middle">{stroke}</span>{escape(label)}</span>'
    )
