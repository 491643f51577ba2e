"""Results on stdout, as JSON for programs or as a table for people."""

from __future__ import annotations

import json
import math

import pandas as pd

from engine import wording
from engine.bound import Bound

TABLE_COLUMNS = {
    "policy": "policy",
    "mean_latency": "mean",
    "p50_latency": "P50",
    "p90_latency": "P90",
    "p99_latency": "P99",
    "mean_ttft": "TTFT",
    "mean_tpot": "TPOT",
    "makespan": "makespan",
    "peak_memory": "peak memory",
    "preemptions": "preemptions",
    "gap": "gap",
}
WHOLE = ("makespan", "peak_memory", "preemptions")


def bound_row(bound: Bound) -> dict:
    return {
        "bound": bound.bound,
        "value": bound.value,
        "certified": bound.certified,
        "covers_preemption": bound.covers_preemption,
        "method": bound.method,
    }


def _finite(value):
    """JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show(result: dict, as_json: bool) -> None:
    """Print {"n", "set_aside", "memory", "clock", "policies", "bounds"}."""
    if as_json:
        print(json.dumps(_finite(result), indent=1))
        return
    print(
        f"{wording.count(result['n'])} requests, {wording.count(result['set_aside'])} set aside, "
        f"M = {wording.tokens(result['memory'])}, times in {result['clock']}"
    )
    if result["policies"]:
        print(f"\n{_policy_table(result['policies'])}")
    if result["bounds"]:
        print(f"\n{_bound_table(result['bounds'])}")


def _policy_table(rows: list[dict]) -> str:
    table = pd.DataFrame(rows)[list(TABLE_COLUMNS)]
    for column in table.columns.drop("policy"):
        write = wording.count if column in WHOLE else wording.number
        if column == "gap":
            write = wording.gap
        values = table[column].astype(object).where(table[column].notna(), None)
        table[column] = [write(value) for value in values]
    return table.rename(columns=TABLE_COLUMNS).to_string(index=False)


def _bound_table(rows: list[dict]) -> str:
    table = pd.DataFrame(rows)[["bound", "value", "covers_preemption", "method"]]
    table["value"] = [wording.number(value) for value in table["value"]]
    table["covers_preemption"] = table["covers_preemption"].map({True: "yes", False: "no"})
    return table.rename(
        columns={"value": "total latency >=", "covers_preemption": "covers preemption"}
    ).to_string(index=False)
