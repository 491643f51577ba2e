"""Text that somebody else wrote, put into a chart as it stands."""

from __future__ import annotations

_SPELLED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "{": "&#123;", "$": "&#36;", "\\": "&#92;"}
)


def literal(text: str) -> str:
    """Text for plotly that shows `text`.

    plotly takes tags in every name, title and label, `%{x}` in what it tells of a point, and TeX
    between dollars; it resolves references to characters after looking for those.
    """
    return text.translate(_SPELLED)
