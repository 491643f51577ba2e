"""Levels in FastServe's queue at a decision (engine/simulate/feedback_queue.py)."""

from __future__ import annotations

import numpy as np

from engine.decisions.decision import Decision
from engine.simulate.feedback_queue import first_level


def levels(decision: Decision, who: np.ndarray, quantum: int, starved: int) -> np.ndarray:
    """(n,) int64, right for `who`: sunk by the tokens generated, back on 0 where it starved."""
    log, seen = decision.schedule.residencies, decision.schedule.seen
    level = first_level(decision.workload.prompt, quantum)
    wanted = np.isin(log.request, who) & (log.begin < decision.at)
    stays: dict[int, list[int]] = {i: [] for i in who.tolist()}
    for k in np.flatnonzero(wanted).tolist():
        stays[int(log.request[k])].append(k)
    for i, places in stays.items():
        at_level, mark, waits_from = int(level[i]), 0, int(seen[i])
        generated = 0
        for k in places:
            begin, end = int(log.begin[k]), min(int(log.end[k]), decision.at)
            if at_level > 0 and waits_from + starved <= begin:
                at_level, mark = 0, generated
            generated = int(log.held[k]) + end - begin - int(decision.workload.prompt[i])
            while generated - mark >= quantum << at_level:
                mark += quantum << at_level
                at_level += 1
            waits_from = end
        in_memory = places and log.end[places[-1]] > decision.at
        if not in_memory and at_level > 0 and waits_from + starved <= decision.at:
            at_level = 0
        level[i] = at_level
    return level
