"""A web page in one file: text, tables and charts that need no server and no network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

import pandas as pd
import plotly.graph_objects as go
from plotly.io import to_html

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; color: #1a202c; background: #fff }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e2e8f0; text-align: right;
  white-space: nowrap } th:first-child, td:first-child { text-align: left }
tr > :nth-child(2):last-child { white-space: normal; text-align: left }
"""


class Literal(str):
    """A paragraph of which nothing is markup: what somebody else wrote is in it."""


@dataclass(frozen=True)
class Link:
    """A paragraph that ends with an address to follow."""

    text: str
    address: str


Block: TypeAlias = str | Link | pd.DataFrame | go.Figure


def html_page(title: str, blocks: Sequence[Block]) -> str:
    """The page.

    Parameters
    ----------
    title : of the browser's tab
    blocks : in order: a text is a paragraph, or a heading where it begins with `# ` or
        `## `, with `**bold**` words, unless it is `Literal`; a data frame is a table, a figure a
        chart
    """
    charts = 0
    drawn = []
    for block in blocks:
        if isinstance(block, go.Figure):
            charts += 1
            drawn.append(_chart(block, charts))
        elif isinstance(block, pd.DataFrame):
            drawn.append(f'<div class="scroll">{block.to_html(index=False, border=0)}</div>')
        elif isinstance(block, Literal):
            drawn.append(f"<p>{escape(block)}</p>")
        elif isinstance(block, Link):
            address = escape(block.address)
            drawn.append(f'<p>{escape(block.text)} <a href="{address}">{address}</a></p>')
        else:
            drawn.append(_text(block))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        + "\n".join(drawn)
        + "</body></html>\n"
    )


def _chart(figure: go.Figure, number: int) -> str:
    """The figure, under an id that is the same in every writing; the first brings the library."""
    return to_html(
        go.Figure(figure).update_layout(template="plotly_white"),
        full_html=False,
        include_plotlyjs=number == 1,
        div_id=f"chart-{number}",
        config={"displaylogo": False, "responsive": True},
    )


def _text(text: str) -> str:
    marks, _, rest = text.partition(" ")
    tag, content = (f"h{len(marks)}", rest) if marks in ("#", "##") else ("p", text)
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(content))
    return f"<{tag}>{bold}</{tag}>"
