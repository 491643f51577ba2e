"""Results on stdout, as JSON for programs or as a table for people."""

from __future__ import annotations

import json
import math

import pandas as pd

from engine import wording
from engine.bound import Bound

TABLE_COLUMNS = {
    "policy": "policy",
    "gave_up": "gave up",
    "turned_away": "turned away",
    "mean_latency": "mean latency",
    "p50_latency": "P50",
    "p90_latency": "P90",
    "p99_latency": "P99",
    "mean_ttft": "mean TTFT",
    "mean_tpot": "mean TPOT",
    "makespan": "makespan",
    "peak_memory": "peak memory",
    "preemptions": "preemptions",
    "gap": "gap",
}
WHOLE = ("gave_up", "turned_away", "peak_memory", "preemptions")
ONLY_WHERE_ANY = ("gave_up", "turned_away")


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
    told = f"{wording.count(requests)} requests, {wording.count(aside)} set aside"
    return f"{told}, M = {wording.tokens(memory)}"


def show(result: dict, as_json: bool) -> None:
    """Print {"n", "set_aside", "memory", "clock", "policies", "bounds"}."""
    if as_json:
        print_json(result)
        return
    line = requests_line(result["n"], result["set_aside"], result["memory"])
    print(f"{line}, times in {result['clock']}")
    if result["policies"]:
        print(f"\n{_policy_table(result['policies'])}")
    if result["bounds"]:
        print(f"\n{_bound_table(result['bounds'])}")


def _policy_table(rows: list[dict]) -> str:
    table = pd.DataFrame(rows)[list(TABLE_COLUMNS)]
    table = table.drop(columns=[name for name in ONLY_WHERE_ANY if not table[name].any()])
    for column in table.columns.drop("policy"):
        write = wording.count if column in WHOLE else wording.number
        if column == "gap":
            write = wording.gap
        values = table[column].astype(object).where(table[column].notna(), None)
        table[column] = [write(value) for value in values]
    return table.rename(columns=TABLE_COLUMNS).to_string(index=False)


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
