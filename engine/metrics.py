"""Numbers about a run. Pure functions of a Run; nothing is simulated here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.simulate.run import Run
from engine.simulate.schedule import Schedule
from engine.workload import Workload

PERCENTILES = (50, 90, 99)
LARGER_THAN_M = "set aside: needs more than M"
TOO_LONG = "set aside: longer than max_model_len"


@dataclass(frozen=True, eq=False)
class MemoryCurve:
    """Memory over time as its exact change points.

    Piece p covers the rounds from time[p] (not included) to time[p + 1]
    (included); within it memory rises by `alive[p]` tokens a round.

    Attributes
    ----------
    time : (m + 1,) int64, rounds, ascending
    low : (m,) int64, tokens as piece p begins: those of its requests before the next token
    high : (m,) int64, tokens at the end of round time[p + 1], the piece's peak
    alive : (m,) int64, tokens a round adds: the requests that decode
    """

    time: np.ndarray
    low: np.ndarray
    high: np.ndarray
    alive: np.ndarray

    @property
    def peak(self) -> int:
        return int(self.high.max())

    @property
    def mean(self) -> float:
        """Tokens held at the end of a round, on average over the curve's rounds."""
        rounds = np.diff(self.time)
        # The ends of a piece's rounds hold low + alive, low + 2 alive, .., high.
        held = rounds * (self.low + self.alive + self.high) / 2
        return float(held.sum() / rounds.sum())


def memory_curve(run: Run | Schedule, of: np.ndarray | None = None) -> MemoryCurve:
    """The memory that a run held over time.

    Parameters
    ----------
    run : the run
    of : (n,) bool, count only these requests (their share of the same rounds); default all
    """
    residencies = run.residencies
    counted = np.ones(len(residencies.request), bool) if of is None else of[residencies.request]
    one = np.where(counted, residencies.grows, 0)
    offset = np.where(counted, residencies.held, 0) - one * residencies.begin
    moment = np.concatenate([residencies.begin, residencies.end])
    order = np.argsort(moment, kind="stable")
    moment = moment[order]
    last = np.flatnonzero(np.append(np.diff(moment) > 0, True))
    base = np.cumsum(np.concatenate([offset, -offset])[order])[last]
    alive = np.cumsum(np.concatenate([one, -one])[order])[last]
    time = moment[last]
    base, alive = base[:-1], alive[:-1]
    return MemoryCurve(time, base + alive * time[:-1], base + alive * time[1:], alive)


def peak_memory(run: Run) -> int:
    """The most tokens held at the end of a round, on one server."""
    return max(memory_curve(part).peak for part in run.parts)


def mean_memory(run: Run) -> float:
    """Tokens held on average over the clock from the first start on, idle time included."""
    curve = memory_curve(run)
    lasts = run.ends(curve.time[1:]) - run.begins(curve.time[:-1])
    # As in `MemoryCurve.mean`: the ends of a piece's rounds hold low + alive .. high.
    held = float((lasts * (curve.low + curve.alive + curve.high)).sum() / 2)
    return held / float(run.ends(curve.time[-1:])[0] - run.begins(curve.time[:1])[0])


def peak_batch(run: Run) -> int:
    """The most requests in memory at once, on one server."""
    return max(_peak_batch(part) for part in run.parts)


def _peak_batch(run: Run) -> int:
    residencies = run.residencies
    moment = np.concatenate(
        [residencies.end, residencies.begin]
    )  # who leaves goes before who comes
    change = np.repeat([-1, 1], len(residencies.request))
    return int(np.cumsum(change[np.argsort(moment, kind="stable")]).max())


def ttft(run: Run) -> np.ndarray:
    """(n,) float64: end of the round of the first token minus arrival, in clock units."""
    return run.first_token_at - run.workload.arrival


def tpot(run: Run) -> np.ndarray:
    """(n,) float64: time per output token after the first; NaN where o = 1."""
    tokens = run.workload.output - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(tokens > 0, (run.finished_at - run.first_token_at) / tokens, np.nan)


def queueing(run: Run) -> np.ndarray:
    """(n,) float64: first start minus arrival, in clock units."""
    return run.started_at - run.workload.arrival


def recomputed_tokens(run: Run) -> int:
    """Tokens prefilled or generated a second time after preemptions."""
    return int(run.recomputed.sum())


def _mean(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def summary(run: Run) -> dict:
    """The row of a league table: the command line's fields without policy and gap (DESIGN 6).

    Times are of those who were served; the first three numbers say how many were not.
    """
    latency, tokens = run.latency, int(run.workload.output.sum())
    makespan = run.finished_at.max().item()
    p50, p90, p99 = (float(value) for value in np.percentile(latency, PERCENTILES))
    return {
        "served": len(run.workload),
        "gave_up": int(run.unserved.gave_up.sum()),
        "turned_away": int((~run.unserved.gave_up).sum()),
        "total_latency": float(latency.sum()),
        "mean_latency": float(latency.mean()),
        "p50_latency": p50,
        "p90_latency": p90,
        "p99_latency": p99,
        "mean_ttft": float(ttft(run).mean()),
        "mean_tpot": _mean(tpot(run)),
        "output_tokens_per_time": tokens / makespan if makespan else np.inf,
        "makespan": makespan,
        "peak_memory": peak_memory(run),
        "preemptions": int(run.preemptions.sum()),
        "recomputed_tokens": recomputed_tokens(run),
        "gave_up_kv": run.gave_up_kv,
        "classes": class_summary(run),
    }


def class_summary(run: Run) -> dict[str, dict]:
    """Per class that has requests: how many, their latencies, TTFT, TPOT and preemptions."""
    latency, first, per_token = run.latency, ttft(run), tpot(run)
    rows = {}
    for number, name in enumerate(run.workload.classes):
        mine = run.workload.class_of == number
        if mine.any():
            p50, p90, p99 = (float(value) for value in np.percentile(latency[mine], PERCENTILES))
            rows[name] = {
                "n": int(mine.sum()),
                "mean_latency": float(latency[mine].mean()),
                "p50_latency": p50,
                "p90_latency": p90,
                "p99_latency": p99,
                "mean_ttft": float(first[mine].mean()),
                "mean_tpot": _mean(per_token[mine]),
                "preemptions": int(run.preemptions[mine].sum()),
            }
    return rows


def per_request(run: Run, workload: Workload) -> pd.DataFrame:
    """One row a request of `workload`, those set aside included with an empty outcome.

    Columns: index, class, arrival, prompt, output, start, first_token, finish, ttft,
    tpot, preemptions, status (`finished`, `gave up`, `turned away`, or why it was set aside).
    """
    table = pd.DataFrame(
        {
            "index": workload.row,
            "class": np.array(workload.classes, dtype=object)[workload.class_of],
            "arrival": workload.arrival,
            "prompt": workload.prompt,
            "output": workload.output,
        }
    )
    outcome = pd.DataFrame(
        {
            "index": run.workload.row,
            "came": run.workload.arrival,  # in a closed loop not as the trace says
            "start": run.started_at,
            "first_token": run.first_token_at,
            "finish": run.finished_at,
            "ttft": ttft(run),
            "tpot": tpot(run),
            "preemptions": run.preemptions,
        }
    )
    whole = [name for name in outcome if outcome[name].dtype.kind == "i" and name != "index"]
    joined = table.merge(outcome, on="index", how="left").astype(dict.fromkeys(whole, "Int64"))
    joined["arrival"] = joined["came"].fillna(joined["arrival"])
    joined["status"] = _status(run, workload)
    return joined.drop(columns="came")


def _status(run: Run, workload: Workload) -> np.ndarray:
    """(n,) str: what became of each request of `workload`."""
    aside = np.where(workload.is_too_long, TOO_LONG, LARGER_THAN_M)
    status = np.where(np.isin(workload.row, run.set_aside), aside, "finished")
    gave_up = run.unserved.gave_up
    status[np.isin(workload.row, run.unserved.row[gave_up])] = "gave up"
    status[np.isin(workload.row, run.unserved.row[~gave_up])] = "turned away"
    return status
