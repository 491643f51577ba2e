"""Better schedules than any list policy finds, under a budget of work.

What makes it work is the identity of engine/proof/dual: at prices lam, a schedule's total
latency exceeds the bound L by exactly

    sum_i rc_i(start_i)  +  sum_t lam[t] (M - used[t]),

what starts cost above the cheapest ones, plus idle memory at its price. Both add up over
time, so a schedule that is settled only up to round t has an exact loss so far, and its
waiting requests have a least loss to come. Partial schedules that reached the same round
can thus be compared: `beam` keeps the best of many random ones, round by round, and
`polish` then takes small groups of requests out of the result and puts them back better.

Recipe after docs/model.md 2.5, `best-found`; the search is ours.
"""

from engine.improve.search import improved

__all__ = ["improved"]
