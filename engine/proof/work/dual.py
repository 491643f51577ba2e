"""The dual function in seconds: prices of machine time that never rise bound every total latency.

Let lam_q(t) >= 0 be the price of a second of machine time under envelope q, t seconds after
the first arrival, with lam_q never rising in time; and let G replicas share the requests.

    L = sum_i min { C - a_i + sum_q sum_j w^q_ij lam_q(C - R_ij) : C >= a_i + alone_i }
        - G * sum_q integral of lam_q

is a lower bound. *Proof.* Say request i completes at C_i, and takes its j-th token, for the
last time, in a round that ends at e_ij. Then C_i >= a_i + alone_i, and e_ij <= C_i - R_ij
where R_ij is no more than the least time of the steps after the j-th. Under each envelope
the works in a round [b, e] of any replica add up to at most e - b, and as lam_q never
rises, lam_q(e) (e - b) is at most its integral over the round. Rounds of a replica do not
overlap, so

    sum_ij w^q_ij lam_q(C_i - R_ij)  <=  sum_ij w^q_ij lam_q(e_ij)  <=  G * integral of lam_q.

Add this for all q to the total latency: the minimum over each C is no more than the term
of C_i. Each envelope is a constraint of its own, so several prices say more than one price
on any mean of the envelopes.

*Parts.* The works of some of the requests add up to no more than those of all, and no round
that serves them begins before the first of them comes. So L of any of the requests, with
times from the first arrival among them, bounds their total latency in any company, and the
bounds of parts that share no request add up.

*Exact in O(1) a cell.* Prices are constant on cells, and tokens move in groups
(engine.proof.work.cells): with C in cell m, group h is priced by cell m - h. Inside a cell the
terms change only by C itself, so the minimum is at a cell's begin or at C = a_i + alone_i.
With prefix sums P of lam and Q of u*lam over cells u the groups before the last cost

    (level - fall*m) (P[m+1] - P[m-last+1]) + fall (Q[m+1] - Q[m-last+1]).

All rounding is allowed for in `value`. A sum of T numbers >= 0 in order errs by T
roundings of itself at most, so a request's charge errs by less than 4T + 40 roundings of
(level + fall*2T + tail) times all prices. A completion that is cheapest is at most
a_i + least_i, so times err by a few roundings of that. Works and times alone were made a
little too small beforehand, by more than rounding could make them too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.compiled import kernel
from engine.proof.work.alone import Alone
from engine.proof.work.cells import LESS, Cells, GroupedWork, in_groups
from engine.proof.work.envelope import Work
from engine.workload import Workload

ROUNDING = 2.0**-53


@dataclass(frozen=True, eq=False)
class Priced:
    """L at given prices.

    Attributes
    ----------
    value : seconds, not above L
    prices : (envelopes, T) by cell
    cell : (n,) int64, the cell of each request's cheapest completion
    completion : (n,) float64, that completion, seconds after the first arrival
    """

    value: float
    prices: np.ndarray
    cell: np.ndarray
    completion: np.ndarray


@dataclass(frozen=True, eq=False)
class WorkRequests:
    """What the dual function needs to know of n requests.

    Attributes
    ----------
    arrival : (n,) float64, seconds after the first of them
    earliest : (n,) float64, no completion is before, seconds after the first arrival
    output : (n,) int64
    works : one for each envelope
    replicas : G
    """

    arrival: np.ndarray
    earliest: np.ndarray
    output: np.ndarray
    works: tuple[Work, ...]
    replicas: int

    @classmethod
    def of(cls, workload: Workload, alone: Alone, works, replicas: int) -> WorkRequests:
        arrival = workload.arrival - workload.arrival.min()
        return cls(arrival, arrival + alone.total * LESS, workload.output, tuple(works), replicas)


@dataclass(frozen=True, eq=False)
class DualFunction:
    """L as a function of prices on fixed cells."""

    requests: WorkRequests
    cells: Cells

    @cached_property
    def grouped(self) -> list[GroupedWork]:
        return [in_groups(w, self.requests.output, self.cells) for w in self.requests.works]

    @property
    def effort(self) -> int:
        """What a checker multiplies at most who tries all cells for each completion."""
        groups = int((self.grouped[0].last + 1).sum())
        return (self.cells.count + 1) * groups * len(self.grouped)

    @cached_property
    def _lines(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """level, fall and tail, (n, envelopes) each, a little less than they are."""
        level, fall, tail = (
            np.ascontiguousarray(np.stack([getattr(g, name) for g in self.grouped], axis=1)) * LESS
            for name in ("level", "fall", "tail")
        )
        return level, fall, tail

    def cell_of(self, completion: np.ndarray) -> np.ndarray:
        """(n,) int64: the cells of completions; tokens before cell 0 are ruled out."""
        cell = (completion / self.cells.width).astype(np.int64)
        return np.maximum(cell, self.grouped[0].last)

    def at(self, prices: np.ndarray) -> Priced:
        """L at prices (envelopes, T) >= 0 by cell that never rise; 0 from cell T on."""
        requests, width = self.requests, self.cells.width
        last = self.grouped[0].last
        sums = [prefix_sums(row) for row in prices]
        plain, weighted = (np.stack(kind) for kind in zip(*sums, strict=True))
        least, cell = _cheapest(
            requests.arrival, requests.earliest, width, last, *self._lines, prices, plain, weighted
        )
        paid = requests.replicas * width * plain[:, -1].sum()
        size = least.sum() + paid + requests.arrival.sum()
        value = least.sum() - paid - self._rounding(prices, plain[:, -1], size)
        completion = np.maximum(cell * width, requests.earliest)
        return Priced(float(value), prices, cell, completion)

    def _rounding(self, prices: np.ndarray, summed: np.ndarray, size: float) -> float:
        """Seconds by which the sums may be too large."""
        count = prices.shape[1]
        level, fall, tail = (line.sum(axis=0) for line in self._lines)
        charges = ((level + 2 * count * fall + tail) * summed).sum()
        return ROUNDING * ((4 * count + 40) * charges + (len(self.requests.arrival) + 40) * size)


def prefix_sums(prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(T + 1,) each: the sums of lam and of u * lam over the cells u before."""
    weighted = prices * np.arange(len(prices))
    return np.append(0.0, np.cumsum(prices)), np.append(0.0, np.cumsum(weighted))


@kernel
def _cheapest(arrival, earliest, width, last, level, fall, tail, prices, plain, weighted):
    """The least cost of each request, seconds, and the cell of its completion."""
    n = arrival.size
    envelopes, T = prices.shape
    least = np.empty(n)
    cell = np.empty(n, np.int64)
    for i in range(n):
        first = max(np.int64(earliest[i] / width), last[i])
        best, chosen = np.inf, first
        for m in range(first, max(first, T + last[i]) + 1):
            cost = max(m * width, earliest[i]) - arrival[i]
            if cost >= best:
                break
            begin, end, at = min(m - last[i] + 1, T), min(m + 1, T), m - last[i]
            for q in range(envelopes):
                cost += (level[i, q] - fall[i, q] * m) * (plain[q, end] - plain[q, begin])
                cost += fall[i, q] * (weighted[q, end] - weighted[q, begin])
                if at < T:
                    cost += tail[i, q] * prices[q, at]
            if cost < best:
                best, chosen = cost, m
        least[i], cell[i] = best, chosen
    return least, cell
