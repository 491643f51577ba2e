"""Sorted-F as requests arrive: the next batch is chosen anew from what waits."""

import numpy as np

from engine.batches.choose import exact_or_swap
from engine.batches.exact import LIMIT
from engine.batches.swap import swap
from engine.decisions.account import Account
from engine.decisions.plans import Plans, limit_of, recovering
from engine.policy import policy
from engine.policy_parameters import MARGIN
from engine.simulate.arrival_queue import arrival_order
from engine.simulate.preempting import admission_limit
from engine.simulate.replanning import replanning
from engine.simulate.replanning_on_predictions import PlanningRule, replanning_on_predictions


def next_batch(row, prompt, output, memory):
    """(m,) bool: phase 1's first batch of requests with these (m,) rows and lengths."""
    by_row = np.argsort(row, kind="stable")  # as the solvers break ties
    solve = exact_or_swap if len(row) <= LIMIT else swap
    chosen = np.zeros(len(row), bool)
    chosen[by_row] = solve(output[by_row], (prompt + output)[by_row], memory)
    return chosen


def along_batches(decision, reckoned, returning=()):
    """The batch chosen of those who wait, in its order, under look-ahead.

    A batch is chosen anew where somebody has started since, so at the end of a decision it is
    of those who still wait.

    Parameters
    ----------
    reckoned : (n,) int64, the outputs that are reckoned with
    returning : (k,) int64, those who go before any batch
    """
    plans = Plans(decision, reckoned, limit_of(decision))
    if len(returning) and not np.isin(returning, decision.joined).all():
        return Account(returning, plans.refuse)
    workload, waiting = decision.workload, decision.waiting
    if len(waiting):
        chosen = next_batch(
            workload.row[waiting], workload.prompt[waiting], reckoned[waiting], decision.memory
        )
        waiting = decision.ascending(waiting[chosen], reckoned)
    return Account(np.append(decision.joined, waiting), plans.refuse)


def account(decision):
    """Those preempted first, then the batch of least F."""
    expected = decision.workload.believing(decision.workload.expected, decision.memory).output
    returning, _ = decision.returning_first(decision.turn)
    if recovered := recovering(decision):
        return Account(closed=recovered)
    return along_batches(decision, expected, returning)


def in_batches(workload, memory, predicted, starts_over, limit, clock, progress):
    """Phase 1 on predicted outputs; parameters as in `PlanningRule`."""
    by_arrival = arrival_order(workload)
    row, prompt = workload.row[by_arrival], workload.prompt[by_arrival]

    def batch(waiting, reckoned):
        output = reckoned[waiting]
        chosen = next_batch(row[waiting], prompt[waiting], output, memory)
        return waiting[chosen][np.argsort(output[chosen], kind="stable")]

    rule = PlanningRule(predicted, batch, starts_over, limit)
    return replanning_on_predictions(workload, memory, rule, clock, progress)


@policy(
    key="sorted-f-online",
    title="Sorted-F online",
    rule="Chooses the batch of least F from the requests that wait, starts it in order of output, "
    "and chooses again when requests arrive or the next one does not fit.",
    source="receding horizon of arXiv 2508.06133, reconstructed",
    group="provable",
    reconstructed=True,
    params=(MARGIN,),
    account=account,
    cost=lambda n: 2e-4 * n + 1e-7 * n**2,
)
def simulate(workload, memory, clock, progress, margin):
    expected = workload.believing(workload.expected, memory).output
    limit = admission_limit(memory, margin)
    if limit < memory or not np.array_equal(expected, workload.output):
        return in_batches(workload, memory, expected, False, limit, clock, progress)
    rank = np.empty(len(workload), np.int64)
    rank[workload.ascending(workload.output)] = np.arange(len(workload))

    def batch(waiting):
        row, lengths = workload.row[waiting], (workload.prompt[waiting], workload.output[waiting])
        chosen = waiting[next_batch(row, *lengths, memory)]
        return chosen[np.argsort(rank[chosen])]

    return replanning(workload, memory, batch, clock, progress)
