"""Our own CSV: arrival,prompt,output, and more columns if there are any. Strict.

Arrivals are in seconds or in any clock unit the user means; rows are in any
order and keep their place. The first bad row is an error.
"""

from __future__ import annotations

import io

from engine.traces.columns import Names, Number, Seconds, Tokens
from engine.traces.requests import Requests
from engine.traces.rows import read_rows
from engine.traces.table import column_names

NAME = "canonical CSV"
HEADER = "arrival,prompt,output"
NEEDED = ("arrival", "prompt", "output")
NOT_USED_YET = ("priority", "predicted_lo", "predicted_hi")


def matches(header: str) -> bool:
    return set(NEEDED) <= set(column_names(header))


def parse(text: io.TextIOWrapper, header: str, strict: bool) -> Requests:
    found = column_names(header)
    names = Names()
    kinds = {"arrival": Seconds(), "prompt": Tokens(), "output": Tokens()}
    if "class" in found:
        kinds["class"] = names
    kinds |= {name: Number() for name in NOT_USED_YET if name in found}
    rows = read_rows(text, header, kinds, strict=True)
    return Requests(
        rows.columns["arrival"],
        rows.columns["prompt"],
        rows.columns["output"],
        rows.row,
        rows.rows_in,
        class_of=rows.columns.get("class"),
        classes=names.names or ("all",),
        notes=_notes(found),
    )


def _notes(found: list[str]) -> tuple[str, ...]:
    later = [name for name in NOT_USED_YET if name in found]
    unknown = [name for name in found if name and name not in (*NEEDED, "class", *NOT_USED_YET)]
    notes = [f"the column {name} is checked but not used yet" for name in later]
    return tuple(notes + [f"the column {name} is not known and not used" for name in unknown])
