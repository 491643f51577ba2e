"""Results on stdout, as JSON for programs or as a table for people."""

from __future__ import annotations

import json
import math

from engine import wording
from engine.bound import Bound
from engine.engines import IDEAL
from engine.measure.metrics import TERMINAL, written_columns


def bound_row(bound: Bound) -> dict:
    return {
        "bound": bound.bound,
        "value": bound.value,
        "certified": bound.certified,
        "covers_preemption": bound.covers_preemption,
        "covers_cut_prompts": bound.covers_cut_prompts,
        "method": bound.method,
    }


def _finite(value):
    """JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(result: dict) -> None:
    print(json.dumps(_finite(result), indent=1, allow_nan=False))


def requests_line(requests: int, aside: int, memory: int) -> str:
    """What a result speaks of, in one line."""
    counted = f"{wording.counted(requests, 'request')}, {wording.count(aside)} set aside"
    return f"{counted}, M = {wording.tokens(memory)}"


def show(result: dict, as_json: bool) -> None:
    """Print {"n", "set_aside", "memory", "clock", "policies", "bounds"}."""
    if as_json:
        print_json(result)
        return
    line = requests_line(result["n"], result["set_aside"], result["memory"])
    print(f"{line}, times in {result['clock']}")
    if result["engine"] != IDEAL.profile:
        print(f"engine {result['engine']}: {_options(result['engine_options'])}")
    if result["policies"]:
        print(f"\n{_policy_table(result['policies'])}")
    if result["bounds"]:
        print(f"\n{_bound_table(result['bounds'])}")


def _options(options: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _policy_table(rows: list[dict]) -> str:
    return text_table(
        {
            "policy": [row["policy"] for row in rows],
            **{metric.title: cells for metric, cells in written_columns(rows, TERMINAL).items()},
            "gap": [wording.gap(row["gap"]) for row in rows],
        }
    )


def text_table(columns: dict[str, list[str]]) -> str:
    """A heading and a line a row, each column flush right."""
    widths = [max(map(len, [title, *cells])) for title, cells in columns.items()]
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _bound_table(rows: list[dict]) -> str:
    """Each bound in two lines: its value and what it covers, then how it was certified."""
    lines = []
    for row in rows:
        kept = "runs that keep their KV cache"
        if not row["covers_cut_prompts"]:
            kept += " and cut no prompt"
        covers = "every run" if row["covers_preemption"] else kept
        lines.append(f"{row['bound']}: total latency >= {row['value']:,.1f}, for {covers}")
        lines.append(f"    {row['method']}")
    return "\n".join(lines)
