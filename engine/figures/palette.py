"""Which colour and dash means what, the same on every chart and page.

Hues are from the colour-blind-safe sets of Okabe and Ito and of Tol; dashes tell
apart what a hue shares. Red is kept for M, grey for bounds.
"""

from __future__ import annotations

import zlib

MEMORY_RED = "#d62839"
BOUND_GREY = "#7f7f7f"
WAIT_GREY = "#b8bcc4"
LIMIT_GREY = "#555555"

SOLID, DASH, DOT, DASHDOT = "solid", "dash", "dot", "dashdot"
BLUE, SKY, ORANGE, GREEN = "#0072b2", "#56b4e9", "#e69f00", "#009e73"
PURPLE, WINE, TEAL, INDIGO, OLIVE, BROWN = (
    "#cc79a7", "#aa3377", "#44aa99", "#5a4fcf", "#999933", "#8c6d31",
)  # fmt: skip

STYLES = {
    "vllm": (BLUE, SOLID),
    "fcfs": (SKY, DASH),
    "mc-sf": (ORANGE, SOLID),
    "shortest-prompt": (ORANGE, DOT),
    "shortest-total": (PURPLE, DASH),
    "svf": (GREEN, SOLID),
    "sorted-f": (WINE, SOLID),
    "sorted-f-exact": (WINE, DASHDOT),
    "sorted-f-swap": (WINE, DASH),
    "sorted-f-quantile": (WINE, DOT),
    "sorted-f-online": (PURPLE, DOT),
    "sorted-lp": (BROWN, SOLID),
    "lp-swap": (BROWN, DASH),
    "best-found": (INDIGO, SOLID),
    "hindsight": (OLIVE, DASH),
    "reverse": (BROWN, DOT),
    "a-max": (OLIVE, SOLID),
    "a-min": (INDIGO, DASH),
    "sorted-f-amin": (INDIGO, DOT),
}
_SPARE_HUES = (TEAL, INDIGO, OLIVE, PURPLE, SKY, BROWN)
_SPARE_DASHES = (SOLID, DASH, DOT, DASHDOT)


def policy_style(key: str) -> tuple[str, str]:
    """(colour, dash) of a policy; one that is not listed gets a pair from its name, for good."""
    if key in STYLES:
        return STYLES[key]
    pick = zlib.crc32(key.encode())
    return _SPARE_HUES[pick % len(_SPARE_HUES)], _SPARE_DASHES[pick // 7 % len(_SPARE_DASHES)]


# Parts of a gap differ by lightness too, in hues that no policy, class or M has.
LOSS_COLOURS = {"ordering": "#4a5568", "idle memory": "#d8b365", "lost cache": "#9aa5b1"}

# Classes differ by lightness, not hue, so that they never read as policies.
_CLASS_RAMP = ("#93c4e6", "#2c6ba8", "#5d9acb", "#1d4e80", "#bcdcf1", "#4480b8")


def class_colour(number: int) -> str:
    """The colour of the class with this index in its workload."""
    return _CLASS_RAMP[number % len(_CLASS_RAMP)]
