"""At most so many large requests at once: cuts for every schedule, but not for parts of several.

The capacity rows see what is held in one round. Yet two requests that both come near M cannot
even end near one another: when the first ends, the other must still be small. Fractions of
many schedules together get round that, which is why the relaxation is a weak bound where few
requests fill M.

*The cut.* A request (s, o) started at k ends at e = k + o and holds t - z at the end of round t,
z = k - s: as if it had grown from nothing at z. Let P = s + o, smax the largest prompt of all,
and q >= 2. Say that the column (i, k) is *in* at round tau if

    z < tau <= e + 1 - ceil((M + 1 - P) / (q - 1))   and   tau <= e - smax.

No q requests are in at the same tau. Let i be the first of them to end, at e. Each other one
has z_j <= tau - 1, so it started at z_j + s_j <= tau - 1 + smax < e and holds at least
e - tau + 1 >= (M + 1 - P) / (q - 1) at the end of round e. With i's own P that is more than M.
So the x of all columns that are in at tau sum to at most q - 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.proof.time_indexed.model import TimeIndexedModel

TOGETHER = (2, 3)  # q: larger ones gained nothing more


def exclusions(model: TimeIndexedModel) -> Iterator[tuple[int, np.ndarray]]:
    """(q - 1, columns) of every cut: of these columns at most q - 1 are in one schedule.

    Cuts that say no more than that each request starts once are left out.
    """
    for q in TOGETHER:
        begin, length = _spans(model, q)
        column = np.repeat(np.arange(len(length)), length)
        step = np.arange(len(column)) - np.repeat(np.cumsum(length) - length, length)
        round_ = begin[column] + step
        order = np.argsort(round_, kind="stable")
        _, first = np.unique(round_[order], return_index=True)
        for columns in np.split(column[order], first[1:]):
            if len(np.unique(model.request[columns])) >= q:
                yield q - 1, columns


def _spans(model: TimeIndexedModel, q: int) -> tuple[np.ndarray, np.ndarray]:
    """From which round on each column is in, and for how many rounds, 0 or more."""
    workload, who = model.workload, model.request
    begin = model.start - workload.prompt[who] + 1
    end = model.start + workload.output[who]
    lacking = model.memory + 1 - workload.peak[who]
    last = np.minimum(end + 1 + -lacking // (q - 1), end - workload.prompt.max())
    return begin, np.maximum(last - begin + 1, 0)
