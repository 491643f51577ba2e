"""Azure LLM inference traces of 2023 and 2024: TIMESTAMP,ContextTokens,GeneratedTokens.

Layout: the public dataset's own files (CC-BY-4.0). Timestamps have up to seven
fractional digits, with a zone in 2024. Arrivals count from the first one, and
the requests are sorted by them; equal ones stay in the file's order.
"""

from __future__ import annotations

import io

import numpy as np

from engine.traces.columns import Moments, Tokens
from engine.traces.requests import Requests
from engine.traces.rows import read_rows
from engine.traces.table import column_names

NAME = "Azure LLM inference trace"
HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"
NANOSECONDS = 10**9


def matches(header: str) -> bool:
    return set(column_names(HEADER)) <= set(column_names(header))


def parse(text: io.TextIOWrapper, header: str, strict: bool) -> Requests:
    kinds = {"timestamp": Moments(), "contexttokens": Tokens(), "generatedtokens": Tokens()}
    rows = read_rows(text, header, kinds, strict)
    moment = rows.columns["timestamp"]
    by_moment = np.argsort(moment, kind="stable")
    return Requests(
        (moment[by_moment] - moment[by_moment[0]]) / NANOSECONDS,
        rows.columns["contexttokens"][by_moment],
        rows.columns["generatedtokens"][by_moment],
        rows.row[by_moment],
        rows.rows_in,
        set_aside=dict(rows.set_aside),
        time_unit="date and time",
    )
