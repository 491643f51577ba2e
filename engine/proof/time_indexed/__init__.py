"""The time-indexed model: one variable for every request and every round it may start after.

    minimise    sum_c cost_c x_c                       x_c in [0, 1], or {0, 1}
    subject to  sum_{c of request i} x_c = 1           for every request i
                sum_c used_c(t) x_c + z_t = M          for every round t, z_t >= 0

A column c = (i, k) says that request i starts at k: cost_c = k + o_i - a_i, and it
holds used_c(t) = s_i + t - k tokens at the end of round t, k < t <= k + o_i. The slack
z_t is the memory left free.

*Cumulative capacity* counts only the memory used up to each round: what is left free
may be used later, so the second row becomes used(t) + z_t = M + z_{t-1}. No policy,
preemptive or not, uses more than M a round, and engine/proof/dual proves that the optimum
of this relaxation bounds every run.

Source: arXiv 2502.07115, equations 1 to 4; docs/model.md 3.1 and 3.3.
"""

from engine.proof.time_indexed.by_pulp import relaxation_by_pulp
from engine.proof.time_indexed.by_scipy import relaxation_by_scipy
from engine.proof.time_indexed.model import TimeIndexedModel, model_up_to

__all__ = ["TimeIndexedModel", "model_up_to", "relaxation_by_pulp", "relaxation_by_scipy"]
