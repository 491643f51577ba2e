"""A table as the text of a CSV that no spreadsheet takes for a program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


FORMULA = re.compile(r"[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_text(table: pd.DataFrame) -> str:
    """The table with a line of names; numbers stay as they are.

    A name or a text that a spreadsheet would read as a formula gets an apostrophe in front, as
    spreadsheets themselves have it: names of classes, files and policies may come from strangers.
    """
    texts = table.select_dtypes(exclude="number")
    plain = table.assign(**{str(name): column.map(_text) for name, column in texts.items()})
    return plain.rename(columns=_text).to_csv(index=False)


def _text(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    is_formula = FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    # A carriage return alone is not put in quotes, and would begin a row.
    return ("'" if is_formula else "") + re.sub("\r\n?", "\n", cell)
