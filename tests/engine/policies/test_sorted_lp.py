"""Sorted-LP and LP-Swap: the order is that of an optimal LP solution, written out here anew."""

from math import ceil

import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Scenario, find_method, find_policy, gap, generate
from engine.batches.objective import lower
from engine.batches.swap import improve
from engine.memory_curve import memory_curve
from engine.progress import silent
from engine.proof.ascent.mean_start import mean_starts
from engine.proof.time_indexed.quiet import quiet_solver
from tests.twins import twin
from tests.twins.batches import sums_of
from tests.twins.strategies import instances

GRIDS = find_policy("sorted-lp").params[0]


class Relaxation:
    """docs/model.md 3.1 word for word: who starts when, in shares, within M in every round."""

    def __init__(self, workload, memory):
        prompt, output = workload.prompt.tolist(), workload.output.tolist()
        arrival = workload.arrival.tolist()
        last = ceil(max(arrival)) + sum(output)
        self.problem = pulp.LpProblem("relaxation", pulp.LpMinimize)
        self.share = [
            {k: self.problem.add_variable(f"x_{i}_{k}", 0) for k in range(ceil(a), last + 1)}
            for i, a in enumerate(arrival)
        ]
        for starts in self.share:
            self.problem += pulp.lpSum(starts.values()) == 1
        for at in range(last + max(output) + 1):
            held = [
                twin.held(prompt[i], k, output[i], at) * x
                for i, starts in enumerate(self.share)
                for k, x in starts.items()
                if k < at <= k + output[i]
            ]
            if held:
                self.problem += pulp.lpSum(held) <= memory
        self.total = pulp.lpSum(
            (k + output[i] - arrival[i]) * x
            for i, starts in enumerate(self.share)
            for k, x in starts.items()
        )

    def least(self, objective):
        self.problem.setObjective(objective)
        self.problem.solve(quiet_solver()(msg=False))
        assert self.problem.status == pulp.LpStatusOptimal
        return objective.value()

    def distance(self, mean, at_most):
        """How far the mean starts are from those of any solution of total latency at_most."""
        self.problem += self.total <= at_most
        apart = []
        for i, starts in enumerate(self.share):
            d = self.problem.add_variable(f"d_{i}", 0)
            shift = pulp.lpSum(k * x for k, x in starts.items()) - float(mean[i])
            self.problem += shift <= d
            self.problem += -shift <= d
            apart.append(d)
        return self.least(pulp.lpSum(apart))


@settings(max_examples=100)
@given(instances(max_n=6, max_memory=16))
def test_mean_starts_are_those_of_an_optimal_solution(instance):
    """They cost what the LP costs, and a solution of that cost has just these means."""
    workload, memory = instance
    mean = mean_starts(workload, memory, 2, silent)
    relaxation = Relaxation(workload, memory)
    optimum = relaxation.least(relaxation.total)
    cost = float((mean + workload.output - workload.arrival).sum())
    assert cost == pytest.approx(optimum, rel=1e-4)
    apart = relaxation.distance(mean, max(cost, optimum) + 1e-6)
    assert apart <= 1e-3 * len(workload)


@settings(max_examples=60)
@given(st.data(), instances(max_n=8, max_memory=20))
def test_sorted_lp_walks_in_that_order(data, instance):
    """Start for start the look-ahead twin's, by ascending mean start, with any skip."""
    workload, memory = instance
    skip, grids = data.draw(st.integers(0, 3)), data.draw(st.integers(GRIDS.low, GRIDS.high))
    run = find_policy("sorted-lp").run(workload, memory, skip=skip, grids=grids)
    mean = mean_starts(workload, memory, grids, silent)
    order = sorted(
        range(len(workload)), key=lambda i: (mean[i], workload.arrival[i], workload.row[i])
    )
    assert run.order.tolist() == order
    assert run.start.tolist() == twin.look_ahead_starts(workload, memory, order, skip)


@settings(max_examples=60)
@given(instances(max_n=9, max_memory=20))
def test_lp_swap_improves_what_it_cuts(instance):
    """Each batch is what local search makes of the longest beginning of the order that fits."""
    workload, memory = instance
    run = find_policy("lp-swap").run(workload, memory)
    mean = mean_starts(workload, memory, 2, silent)
    output, size = workload.output, workload.peak
    left, listed = np.arange(len(workload)), run.order
    while len(left):
        by_start = left[np.argsort(mean[left], kind="stable")]
        cut = np.isin(left, by_start[np.cumsum(size[by_start]) <= memory])
        batch = improve(cut, output[left], size[left], memory)
        cut_sums, sums = (sums_of(which, output[left], size[left]) for which in (cut, batch))
        assert not lower(cut_sums, sums)
        assert sums[2] <= memory
        mine, listed = listed[: sums[1]], listed[sums[1] :]
        assert set(mine) == set(left[batch])
        assert (np.diff(output[mine]) >= 0).all()
        left = left[~batch]
    assert run.start.tolist() == twin.look_ahead_starts(workload, memory, run.order.tolist())


@settings(max_examples=40)
@given(instances(max_n=8, max_memory=20))
def test_within_memory_and_not_below_the_lp(instance):
    """Feasible, no better than the relaxation it comes from, and the same twice."""
    workload, memory = instance
    lp = find_method("lp").bounds(workload, memory)[0].value
    for key in ("sorted-lp", "lp-swap"):
        run, again = (find_policy(key).run(workload, memory) for _ in range(2))
        assert memory_curve(run).peak <= memory
        assert (run.start >= workload.arrival).all()
        assert run.latency.sum() >= lp - 1e-6
        assert (run.start == again.start).all()


def test_on_the_default_mix():
    """300 requests: both repeat themselves and are nearer to the bound than Sorted-F."""
    workload = generate(Scenario(n=300))
    bounds = find_method("prices").bounds(workload, 16_492, time_limit=1.0)
    sorted_f = gap(find_policy("sorted-f").run(workload, 16_492), bounds)
    for key in ("sorted-lp", "lp-swap"):
        run, again = (find_policy(key).run(workload, 16_492) for _ in range(2))
        assert (run.start == again.start).all()
        assert 1 <= gap(run, bounds) < sorted_f
