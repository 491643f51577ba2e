"""One decision of a schedule: who was in memory, who joined, who was put out, who waited."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from engine.machine.clock import Clock
from engine.simulate.arrival_queue import GAVE_UP, TURNED_AWAY, arrival_order
from engine.simulate.schedule import Schedule


def in_blocks(tokens: np.ndarray, block: int) -> np.ndarray:
    """Tokens rounded up to whole blocks."""
    return -(-tokens // block) * block


class Decision:
    """The decision after round `at`, that which the next round followed.

    Attributes
    ----------
    schedule : with those who left unserved still in it
    params : what the policy ran with
    clock : on which it ran
    at : how many rounds had ended
    moment : clock units
    stays : (k,) int64, requests that were in memory and remain there
    joined : (j,) int64, those that came into memory
    put_out : (p,) int64, those that lost their KV cache; who came back at once is in `joined` too
    waiting : (w,) int64, those that wait after it, for the first time or again
    """

    def __init__(
        self, schedule: Schedule, params: Mapping[str, Any], clock: Clock, at: int
    ) -> None:
        self.schedule, self.params, self.clock, self.at = schedule, params, clock, at
        self.workload, self.memory = schedule.workload, schedule.memory
        self.moment = float(schedule.begins(at))
        log = schedule.residencies
        self._log = log
        self._inside = np.flatnonzero((log.begin <= at) & (log.end > at))
        is_new = (log.begin[self._inside] == at) & ~np.isin(self._inside, self.schedule.joints[1])
        inside = log.request[self._inside]
        self.stays, self.joined = inside[~is_new], inside[is_new]
        self.put_out = log.request[self.losses[log.end[self.losses] == at]]
        self.waiting = np.flatnonzero(self._is_there & ~self._in_memory)

    @cached_property
    def _in_memory(self) -> np.ndarray:
        inside = np.zeros(len(self.workload), bool)
        inside[self._log.request[self._inside]] = True
        return inside

    @cached_property
    def _is_there(self) -> np.ndarray:
        """(n,) bool: has come, and has neither finished nor left."""
        there = self.schedule.seen <= self.at
        left = self.schedule.left
        if left is None:
            return there & (self.schedule.finish > self.at)
        unfinished = (self.schedule.finish > self.at) | (left == GAVE_UP)
        gives_up = self.workload.arrival + self.workload.admission_limits.patience
        gone = (left == TURNED_AWAY) | ((left == GAVE_UP) & (gives_up < self.moment))
        return there & unfinished & ~gone

    @cached_property
    def turn(self) -> np.ndarray:
        """(n,) int64: the place of each request in order of arrival."""
        turn = np.empty(len(self.workload), np.int64)
        turn[arrival_order(self.workload)] = np.arange(len(turn))
        return turn

    @cached_property
    def all_arrived(self) -> bool:
        """Whether no more requests are due."""
        return bool((self.schedule.seen <= self.at).all())

    @cached_property
    def generated(self) -> np.ndarray:
        """(n,) int64: tokens that each who is there has generated and not lost."""
        log, prompt = self._log, self.workload.prompt
        generated = np.zeros(len(prompt), np.int64)
        later = np.flatnonzero(log.begin > self.at)
        returning, first = np.unique(log.request[later], return_index=True)
        generated[returning] = log.held[later[first]] - prompt[returning]
        inside = self._inside
        grown = log.grows[inside] * (self.at - log.begin[inside])
        who = log.request[inside]
        generated[who] = log.held[inside] + grown - prompt[who]
        return generated

    @property
    def holding(self) -> np.ndarray:
        """(n,) int64: tokens that each holds in memory, or would."""
        return self.workload.prompt + self.generated

    @cached_property
    def decodes(self) -> np.ndarray:
        """(n,) bool: was decoding before this decision and goes on with it."""
        log, inside = self._log, self._inside
        decodes = np.zeros(len(self.workload), bool)
        before = inside[(log.begin[inside] < self.at) & (log.grows[inside] == 1)]
        decodes[log.request[before]] = True
        return decodes

    @cached_property
    def rests(self) -> np.ndarray:
        """(n,) bool: keeps its memory, which does not grow: paused, or finished."""
        log, inside = self._log, self._inside
        still = inside[(log.grows[inside] == 0) & np.isin(inside, self.schedule.joints[1])]
        rests = np.zeros(len(self.workload), bool)
        rests[log.request[still]] = True
        return rests

    def overflow(self, block: int = 1) -> int:
        """Tokens by which the next round of those in memory would have passed M, in blocks."""
        log = self._log
        here = np.flatnonzero((log.begin < self.at) & (log.end >= self.at))
        here = here[self.schedule.finish[log.request[here]] > self.at]
        held = log.held[here] + log.grows[here] * (self.at - log.begin[here])
        return int(in_blocks(held + 1, block).sum()) - self.memory // block * block

    @cached_property
    def losses(self) -> np.ndarray:
        """(l,) int64, indices of the residencies that a loss of KV cache has ended."""
        log, finish = self._log, self.schedule.finish
        if not self.schedule.gave_up_kv:
            return np.empty(0, np.int64)
        over = (log.end <= self.at) & (log.end < finish[log.request])
        over[self.schedule.joints[0]] = False
        return np.flatnonzero(over)

    def lost_at(self, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """When each of these requests last lost its KV cache, -1 if never, and its log place."""
        place = np.full(len(self.workload), -1)
        place[self._log.request[self.losses]] = self.losses  # ascending, so that the last stays
        place = place[who]
        return np.where(place < 0, -1, self._log.end[place]), place

    @property
    def candidates(self) -> np.ndarray:
        """(c,) int64: who waited before it admitted anybody."""
        return np.concatenate([self.joined, self.waiting])

    def ascending(self, who: np.ndarray, key: np.ndarray) -> np.ndarray:
        """These requests by ascending (n,) key; of equal keys by order of arrival."""
        return who[np.lexsort((self.turn[who], key[who]))]

    def returning_first(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The candidates: those who lost their KV cache, and the others by (n,) key.

        Of the former those who lost it last are first; of one decision, in order of admission.
        """
        who = self.candidates
        when, place = self.lost_at(who)
        back = when >= 0
        returning = who[back][np.lexsort((place[back], -when[back]))]
        return returning, self.ascending(who[~back], key)
