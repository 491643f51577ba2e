"""The columns of the model and what they hold: arrays that every solver reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.simulate.schedule import visible_rounds
from engine.workload import Workload


@dataclass(frozen=True, eq=False)
class TimeIndexedModel:
    """A time-indexed model of a workload.

    Attributes
    ----------
    workload, memory : the requests and M, tokens
    request, start : (c,) int64, the columns: who starts when; grouped by request
    first : the first decision of all; nothing runs in or before this round
    rounds : the rounds first + 1 .. first + rounds have a capacity row each
    """

    workload: Workload
    memory: int
    request: np.ndarray
    start: np.ndarray
    first: int
    rounds: int

    @property
    def cost(self) -> np.ndarray:
        """(c,) float64: each column's latency, rounds."""
        workload, who = self.workload, self.request
        return self.start + workload.output[who] - workload.arrival[who]

    @cached_property
    def held(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Column, row and tokens of every entry of the capacity rows; row 0 is round first + 1."""
        lasting = self.workload.output[self.request]
        column = np.repeat(np.arange(len(lasting)), lasting)
        begins = np.cumsum(lasting) - lasting
        step = np.arange(len(column)) - begins[column]  # 0 for the first round
        row = self.start[column] - self.first + step
        tokens = self.workload.prompt[self.request[column]] + step + 1
        return column, row, tokens


def entries_up_to(workload: Workload, last_start: np.ndarray) -> int:
    """How many entries the capacity rows have where request i starts at last_start[i] or before."""
    starts = np.maximum(last_start - visible_rounds(workload.arrival) + 1, 0)
    return round((starts * workload.output.astype(float)).sum())  # it need not fit in int64


def model_up_to(workload: Workload, memory: int, last_start: np.ndarray) -> TimeIndexedModel:
    """The model in which request i may start from its arrival up to last_start[i]."""
    visible = visible_rounds(workload.arrival)
    starts = last_start - visible + 1
    request = np.repeat(np.arange(len(workload)), starts)
    begins = np.cumsum(starts) - starts
    start = visible[request] + np.arange(len(request)) - begins[request]
    first = int(visible.min())
    rounds = int((last_start + workload.output).max()) - first
    return TimeIndexedModel(workload, memory, request, start, first, rounds)
