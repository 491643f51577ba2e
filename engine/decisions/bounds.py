"""The lower bounds of outputs as evictions have raised them (engine/simulate/starting_over.py)."""

from __future__ import annotations

import numpy as np

from engine.decisions.decision import Decision


def raised_bounds(decision: Decision) -> np.ndarray:
    """(n,) int64: each request's bound after a decision's evictions."""
    workload, log, lost = decision.workload, decision.schedule.residencies, decision.losses
    bounds = workload.believing(workload.at_least, decision.memory).output.copy()
    who = log.request[lost]
    generated = log.held[lost] + log.end[lost] - log.begin[lost] - workload.prompt[who]
    np.maximum.at(bounds, who, generated)
    return bounds
