"""Before each round the best-ranked requests run, whoever ran before.

Of all that have arrived, ranked by key, the longest prefix runs whose sum of s + gen + 1 is
within M. Requests of the batch that fall out of it give up their KV cache.

`keep_best` finds the prefix without sorting. While need > M the worst-ranked of the batch
cannot be in the prefix, as the prefix would have to hold all of the batch. Then the first
in the queue comes in if it fits beside the batch: all that rank before it are in the batch. If
it does not fit and someone of the batch ranks behind it, the last of these cannot be in the
prefix. Otherwise all of the batch rank before it, and the batch is the prefix.

Between decisions need grows, so who does not fit now will not fit until somebody arrives,
completes, is put out or changes rank: a policy's kernel jumps to the next of these.
"""

from __future__ import annotations

from engine.compiled import part
from engine.simulate.priority_queue import dequeue, enqueue, goes_before
from engine.simulate.server import admit, evict, need, swap_in, swap_out


@part
def worst_ranked(server, priority_queue):
    """The place in the batch of the request that ranks last."""
    batch, worst = server.batch, 0
    for place in range(1, server.state.running):
        if goes_before(priority_queue, batch[worst], batch[place]):
            worst = place
    return worst


@part
def preempt_into(server, priority_queue, place, swap, transfer):
    """The request at `place` waits again, its KV cache swapped out or dropped."""
    enqueue(
        server,
        priority_queue,
        swap_out(server, place, transfer) if swap else evict(server, place, True),
    )


@part
def keep_best(server, priority_queue, swap, transfer):
    """Let the best-ranked run; `priority_queue.key` must be right for the batch too."""
    state, of = server.state, server.of
    while need(server) > server.memory:
        preempt_into(server, priority_queue, worst_ranked(server, priority_queue), swap, transfer)
    while state.queued > 0:
        i = server.queue[0]
        if need(server) + of[i].prompt + of[i].gen + 1 <= server.memory:
            dequeue(server, priority_queue)
            if swap and of[i].start >= 0:
                swap_in(server, i, transfer)
            else:
                admit(server, i, True)
            continue
        worst = worst_ranked(server, priority_queue)
        if goes_before(priority_queue, server.batch[worst], i):
            return
        preempt_into(server, priority_queue, worst, swap, transfer)
