"""Admission on present use, with preemption when memory runs out (vLLM's rule).

Before each round, with `need` the sum of s + gen + 1 over running requests:

1. while need > M, the newest running request is preempted: its KV cache is
   dropped, its generated tokens are kept, and it goes to the front of the queue;
2. if none was preempted, requests are admitted from the head of the queue while
   need, those just admitted included, stays within the admission limit and fewer
   than max_num_seqs run. On an empty server the limit is M itself, or a request
   between the limit and M would wait for ever.

Between decisions at which something can change, need grows by one token a
running request and round, so the kernel jumps: to the next completion, to the
round in which need would pass M, or to the next arrival when nothing waits. A
blocked head stays blocked until one of these, as need only grows.
"""

from __future__ import annotations

import numpy as np

from engine.compiled import kernel
from engine.simulate.run import Run, Stays, visible_rounds
from engine.workload import Workload


@kernel
def _grown(column):
    longer = np.empty(2 * column.size, np.int64)
    longer[: column.size] = column
    return longer


@kernel
def _preempting_stays(visible, prompt, output, memory, limit, max_num_seqs):
    """Every stay in memory, for requests sorted by (arrival, row).

    Returns
    -------
    request, begin, end, held : (k,) int64, in order of begin, then of admission
    """
    n = prompt.size
    request = np.empty(n + 16, np.int64)
    begin = np.empty(n + 16, np.int64)
    end = np.empty(n + 16, np.int64)
    held = np.empty(n + 16, np.int64)
    stays = 0

    gen = np.zeros(n, np.int64)  # tokens generated before the present stay
    running = np.empty(n, np.int64)  # stays, in admission order: the newest is last
    runs = 0
    preempted = np.empty(n, np.int64)  # a stack: its top is the head of the queue
    returns = 0
    arrived = 0  # requests before this one have been admitted at least once
    need = 0  # sum of s + gen + 1 over running
    finished = 0
    now = visible[0]

    while finished < n:
        kept = 0
        for place in range(runs):  # completions at `now`
            stay = running[place]
            i = request[stay]
            if gen[i] + now - begin[stay] == output[i]:
                end[stay] = now
                need -= prompt[i] + output[i] + 1
                finished += 1
            else:
                running[kept] = stay
                kept += 1
        runs = kept

        any_preempted = False
        while need > memory:
            runs -= 1
            stay = running[runs]
            i = request[stay]
            end[stay] = now
            gen[i] += now - begin[stay]
            need -= prompt[i] + gen[i] + 1
            preempted[returns] = i
            returns += 1
            any_preempted = True

        blocked = any_preempted
        while not blocked and runs < max_num_seqs:
            if returns > 0:
                i = preempted[returns - 1]
            elif arrived < n and visible[arrived] <= now:
                i = arrived
            else:
                break
            more = prompt[i] + gen[i] + 1
            if need + more > (limit if runs > 0 else memory):
                blocked = True
                break
            if returns > 0:
                returns -= 1
            else:
                arrived += 1
            if stays == request.size:
                request, begin = _grown(request), _grown(begin)
                end, held = _grown(end), _grown(held)
            request[stays] = i
            begin[stays] = now
            held[stays] = prompt[i] + gen[i]
            running[runs] = stays
            stays += 1
            runs += 1
            need += more

        if runs == 0:
            if finished < n:
                now = max(now, visible[arrived])
            continue
        rounds = output[request[running[0]]]
        for place in range(runs):
            stay = running[place]
            i = request[stay]
            rounds = min(rounds, output[i] - gen[i] - (now - begin[stay]))
        rounds = min(rounds, (memory - need) // runs + 1)
        if any_preempted:
            rounds = 1
        elif not blocked and runs < max_num_seqs and arrived < n:
            rounds = min(rounds, visible[arrived] - now)
        now += rounds
        need += rounds * runs
    return request[:stays], begin[:stays], end[:stays], held[:stays]


def preempting(workload: Workload, memory: int, limit: int, max_num_seqs: int) -> Run:
    """Run the requests in order of arrival under the rule above, in rounds.

    Parameters
    ----------
    workload : requests that each fit in `memory`
    limit : tokens an admission may fill, at most `memory`
    max_num_seqs : how many requests may run at once
    """
    by_arrival = workload.ascending(workload.arrival)
    request, begin, end, held = _preempting_stays(
        visible_rounds(workload.arrival)[by_arrival],
        workload.prompt[by_arrival],
        workload.output[by_arrival],
        memory,
        limit,
        max_num_seqs,
    )
    return Run.of_stays(workload, memory, Stays(by_arrival[request], begin, end, held))
