"""Plain twins of the rules that go by predicted lengths and correct them as outputs grow."""

from tests.twins.plain_policies import LookAhead, by_arrival, preempt_newest


def on_predicted_lengths(order, predicted, limit, skip):
    """A fixed order under look-ahead on planned outputs; those preempted go before it."""
    plans = LookAhead(predicted, limit)
    back = []

    def decide(server):
        victims = preempt_newest(server)
        back[:0] = victims
        if victims:
            return
        left = skip
        for i in [*back, *(j for j in order if j not in back)]:
            if i not in server.waiting:
                continue
            if plans.fits(server, i):
                server.admit(i)
            else:
                left -= 1
                if left < 0:
                    break
        back[:] = [i for i in back if i in server.waiting]

    return decide


def start_over(server, lo):
    """A_min's recovery: the least (lo, arrival, index) starts over, as long as need be."""
    anyone = False
    while server.need() > server.memory:
        victim = min(server.running, key=lambda i: (lo[i], server.arrival[i], i))
        lo[victim] = max(lo[victim], server.gen[victim])
        server.drop(victim, keep=False)
        anyone = True
    return anyone


def a_min(lo, limit):
    """Shortest lower bound first; bounds that were too low are raised."""
    lo = list(lo)
    plans = LookAhead(lo, limit)

    def decide(server):
        start_over(server, lo)
        order = sorted(server.waiting, key=lambda i: (lo[i], server.arrival[i], i))
        plans.admit(server, order)

    return decide


def replanning(batch, predicted, starts_over, limit):
    """Along a plan that is made anew; `batch(waiting, predicted)` makes one."""
    predicted = list(predicted)
    plans = LookAhead(predicted, limit)
    plan, back, known, admitted = [], [], set(), [0]

    def decide(server):
        new = set(server.waiting) - known
        left = known & set(server.gone)
        known.update(new)
        known.difference_update(left)
        if starts_over:
            evicted = start_over(server, predicted)
        else:
            evicted = False
            victims = preempt_newest(server)
            back[:0] = victims
        if new or left or evicted:
            plan.clear()
        if not starts_over and victims:
            return
        all_back = plans.admit(server, list(back))
        back[:] = [i for i in back if i in server.waiting]
        while all_back and len(server.waiting) > 0:
            if not plan:
                plan[:] = batch(by_arrival(server, server.waiting), predicted)
                admitted[0] = 0
            if plans.fits(server, plan[0]):
                server.admit(plan.pop(0))
                admitted[0] += 1
            elif admitted[0]:
                plan.clear()
            else:
                return

    return decide
