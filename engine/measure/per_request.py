"""What became of every request, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.measure.times import tpot, ttft
from engine.simulate.run import Run
from engine.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

LARGER_THAN_M = "set aside: needs more than M"
TOO_LONG = "set aside: longer than max_model_len"


def per_request(run: Run, workload: Workload) -> pd.DataFrame:
    """One row a request of `workload`, those set aside included with an empty outcome.

    Columns: index, class, arrival, prompt, output, start, first_token, finish, ttft,
    tpot, preemptions, status (`finished`, `gave up`, `turned away`, or why it was set aside).
    """
    import pandas as pd  # slow to import

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
