"""Nested WAIT: lengths are unknown, and those who turn out to be long go on in groups.

Gates stand at certain numbers of generated tokens. A request that reaches a gate pauses
there, its KV cache kept, until as many stand at the gate as its group has; then all of
them go on. Admission is the first gate: new requests start when a group of them waits,
on present use. A gate is open for those whose oldest has stood there for `max_wait`, and
all gates are when no more requests are due. When memory runs out the newest restarts, and
nobody is admitted in that round.

No endless livelock: of those in memory the one admitted first restarts only if it is alone,
and alone it fits; it pauses at finitely many gates, at none for ever. But while it stands at a
gate others may restart round after round, up to `max_wait`: a run in which that happens 100,000
times, and nobody comes or completes, is given up.

The kernel jumps to where somebody completes or reaches a gate, memory runs out, a wait
ends or a request arrives or gives up. Where all in memory stand at gates, time passes to
the next of the latter three.
"""

from typing import NamedTuple

import numpy as np

from engine.compiled import kernel, part
from engine.decisions.account import Account
from engine.decisions.present_use import over_use
from engine.decisions.refusal import NoGroup, RanOut
from engine.errors import InputError, Livelock
from engine.policy import policy
from engine.policy_parameters import MAX_WAIT, Param
from engine.simulate.arrival_queue import all_arrived, next_arrival, next_to_give_up
from engine.simulate.gates import GateRule, gates_at
from engine.simulate.priority_queue import dequeue, enqueue, enqueue_arrivals, new_priority_queue
from engine.simulate.serve import serve
from engine.simulate.server import (
    Server,
    admit,
    advance,
    advance_until,
    close_residency,
    evict,
    lose_cache,
    need,
    next_decision,
    open_residency,
    remove_from_batch,
    rounds_to_completion,
    tokens,
)
from engine.simulate.timetable import wait_idle

SEGMENTS = Param("segments", 4, 1, 100, "Into how many equal parts gates cut the longest output.")
GROUP = Param(
    "group", 8, 1, 10**6, "How many new requests start together; later groups have fewer."
)
FIX = "give nested-wait.max_wait a smaller value, so that nobody stands at a gate for so long"
RESTARTS = 100_000  # with nobody coming or completing between: then a run is given up

PAUSED = np.dtype(
    [
        ("paused", "i8"),  # how many requests stand at gates
        ("held", "i8"),  # tokens that they hold
        ("admitted", "i8"),  # admissions so far
    ]
)


class Gates(NamedTuple):
    """The gates, and who stands where.

    Attributes
    ----------
    at : (m + 1,) int64, generated tokens at each gate; NEVER ends the list
    size : (m + 1,) int64, how many go on together there
    admission : how many new requests start together
    max_wait : clock units
    upcoming : (n,) int64, the gate each request comes to next, or stands at
    since : (n,) float64, when it came there
    admitted : (n,) int64, the count of admissions at its own
    who : (n,) int64, those who stand at gates
    standing : (m + 1,) int64, scratch: how many stand at each gate
    due : (m + 1,) float64, scratch: when its oldest has waited long enough
    state : record of dtype PAUSED
    """

    at: np.ndarray
    size: np.ndarray
    admission: int
    max_wait: float
    upcoming: np.ndarray
    since: np.ndarray
    admitted: np.ndarray
    who: np.ndarray
    standing: np.ndarray
    due: np.ndarray
    state: np.void


@part
def _count_at_gates(server, gates):
    """Fill in `standing` and `due`, those of the batch who have just come included."""
    gates.standing[:] = 0
    gates.due[:] = np.inf
    for k in range(gates.state.paused):
        i = gates.who[k]
        gate = gates.upcoming[i]
        gates.standing[gate] += 1
        gates.due[gate] = min(gates.due[gate], gates.since[i] + gates.max_wait)
    for place in range(server.state.running):
        i = server.batch[place]
        gate = gates.upcoming[i]
        if tokens(server, i) == gates.at[gate]:
            gates.since[i] = server.round_clock.state.seconds
            gates.standing[gate] += 1
            gates.due[gate] = min(gates.due[gate], gates.since[i] + gates.max_wait)


@part
def _is_open(server, gates, gate):
    if all_arrived(server.arrival_queue) or gates.standing[gate] >= gates.size[gate]:
        return True
    return server.round_clock.state.seconds >= gates.due[gate]


@part
def _pause(server, gates):
    """Those of the batch who are at a gate pass it or stand there."""
    place = 0
    while place < server.state.running:
        i = server.batch[place]
        if tokens(server, i) != gates.at[gates.upcoming[i]]:
            place += 1
        elif _is_open(server, gates, gates.upcoming[i]):
            gates.upcoming[i] += 1
            place += 1
        else:
            remove_from_batch(server, place)
            holding = server.of[i].prompt + server.of[i].gen
            open_residency(server, i, holding, 0)
            gates.who[gates.state.paused] = i
            gates.state.paused += 1
            gates.state.held += holding


@part
def _go_on(server, gates):
    """Those who stand at open gates join the batch."""
    kept = 0
    for k in range(gates.state.paused):
        i = gates.who[k]
        if _is_open(server, gates, gates.upcoming[i]):
            gates.upcoming[i] += 1
            gates.state.held -= server.of[i].prompt + server.of[i].gen
            close_residency(server, i)
            admit(server, i, False)
        else:
            gates.who[kept] = i
            kept += 1
    gates.state.paused = kept


@part
def _newest(requests, count, gates):
    newest = 0
    for k in range(1, count):
        if gates.admitted[requests[k]] > gates.admitted[requests[newest]]:
            newest = k
    return newest


@part
def _restart_newest(server, priority_queue, gates):
    state, who = server.state, gates.who
    place = _newest(server.batch, state.running, gates)
    i = server.batch[place]
    paused = _newest(who, gates.state.paused, gates)
    if gates.state.paused > 0 and gates.admitted[who[paused]] > gates.admitted[i]:
        i = who[paused]
        gates.state.paused -= 1
        who[paused] = who[gates.state.paused]
        gates.state.held -= server.of[i].prompt + server.of[i].gen
        close_residency(server, i)
        lose_cache(server, i, False)
    else:
        evict(server, place, False)
    gates.upcoming[i] = 0
    enqueue(server, priority_queue, i)


@part
def _admit(server, priority_queue, gates):
    """Admit if a group waits; when the wait of the oldest ends, if that is what they wait for."""
    state, arrival = server.state, server.arrival_queue.arrival
    if state.queued == 0:
        return np.inf
    due = arrival[server.queue[0]] + gates.max_wait
    is_group = all_arrived(server.arrival_queue) or state.queued >= gates.admission
    if not is_group and server.round_clock.state.seconds < due:
        return due
    while state.queued > 0:
        more = server.of[server.queue[0]].prompt + 1
        if need(server) + gates.state.held + more > server.memory:
            break
        i = dequeue(server, priority_queue)
        gates.admitted[i] = gates.state.admitted
        gates.state.admitted += 1
        admit(server, i, True)
    # Those left over, fewer than a group, wait for one again.
    due = arrival[server.queue[0]] + gates.max_wait if state.queued > 0 else np.inf
    return due if due > server.round_clock.state.seconds else np.inf


@part
def _rounds_to_change(server, gates):
    """Rounds until somebody completes or reaches a gate, or memory runs out."""
    free = server.memory - gates.state.held - need(server)
    rounds = min(rounds_to_completion(server), free // server.state.running + 1)
    for place in range(server.state.running):
        i = server.batch[place]
        rounds = min(rounds, gates.at[gates.upcoming[i]] - tokens(server, i))
    return rounds


@kernel
def _nested_wait(server, priority_queue, gates):
    state = server.state
    while next_decision(server):
        enqueue_arrivals(server, priority_queue)
        _count_at_gates(server, gates)
        _pause(server, gates)
        _go_on(server, gates)
        too_many = need(server) + gates.state.held > server.memory
        while need(server) + gates.state.held > server.memory:
            _restart_newest(server, priority_queue, gates)
        if too_many and state.running > 0:
            advance(server, 1, False)
            continue
        moment = min(_admit(server, priority_queue, gates), next_arrival(server.arrival_queue))
        for k in range(gates.state.paused):
            moment = min(moment, gates.since[gates.who[k]] + gates.max_wait)
        if state.running == 0:
            wait_idle(server.round_clock, min(moment, next_to_give_up(server.arrival_queue)))
        else:
            advance_until(server, _rounds_to_change(server, gates), moment)


def _events(server: Server) -> tuple[int, bytes]:
    """How many have completed, and what the arrival queue has counted."""
    return int(server.state["finished"]), server.arrival_queue.counts.tobytes()


def nested_wait(workload, memory, rule, clock, progress):
    """Run under the rule above.

    Raises
    ------
    Livelock
        When requests restart again and again while others stand at a gate.
    """
    n = len(workload)
    gates = Gates(
        at=rule.at,
        size=rule.size,
        admission=rule.group,
        max_wait=rule.max_wait,
        upcoming=np.zeros(n, np.int64),
        since=np.zeros(n),
        admitted=np.zeros(n, np.int64),
        who=np.empty(n, np.int64),
        standing=np.empty(len(rule.at), np.int64),
        due=np.empty(len(rule.at)),
        state=np.zeros(1, PAUSED)[0],
    )
    priority_queue = new_priority_queue(np.zeros(n))

    def go_on(server: Server) -> None:
        before, lost = _events(server), server.of["lost"].sum()
        _nested_wait(server, priority_queue, gates)
        restarts = server.of["lost"].sum() - lost
        if _events(server) == before and restarts > RESTARTS + n:
            at = int(server.round_clock.state["round"])
            raise Livelock("nested-wait", at, int(server.state["queued"]), FIX)

    return serve(workload, memory, clock, go_on, progress)


def account(decision):
    """In order of arrival on present use, where a group waits and memory has not run out."""
    group, max_wait = decision.params["group"], decision.params["max_wait"]
    queue = decision.ascending(decision.candidates, decision.turn)
    closed: RanOut | NoGroup | None = None
    if len(decision.put_out) and not decision.rests[decision.stays].all():
        closed = RanOut(len(decision.put_out))
    elif len(queue) and not decision.all_arrived and len(queue) < group:
        due = float(decision.workload.arrival[queue[0]] + max_wait)
        closed = NoGroup(len(queue), group, due) if decision.moment < due else None
    return Account(queue, over_use(decision, decision.memory), closed=closed)


@policy(
    key="nested-wait",
    title="Nested WAIT",
    rule="Starts requests in groups on present use; those who reach a gate pause with their KV "
    "cache until a group stands there; when memory runs out the newest starts over.",
    source="arXiv 2504.11320, section 5 and its authors' code; max_wait is ours",
    group="provable",
    uses_lengths=False,
    may_give_up_kv=True,
    waits_for_more=True,
    params=(SEGMENTS, GROUP, MAX_WAIT),
    account=account,
    cost=lambda n: 3e-6 * n,
)
def simulate(workload, memory, clock, progress, segments, group, max_wait):
    if clock.step(1, 0, 0) == 0:
        raise InputError(
            "nested-wait opens its gates as time passes: give c0 above 0, so that a round that "
            "only prefills takes time"
        )
    at, size = gates_at(workload.output, segments, group)
    return nested_wait(workload, memory, GateRule(at, size, group, max_wait), clock, progress)
