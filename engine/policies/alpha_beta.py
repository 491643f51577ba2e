"""Alpha-protection beta-clearing: admit below (1 - alpha) M, clear some at random on overflow."""

from engine.decisions.present_use import below_protected
from engine.policy import policy
from engine.policy_parameters import ALPHA, Param
from engine.simulate.preempting import admission_limit
from engine.simulate.restarting import Clearing, restarting

BETA = Param("beta", 0.1, 0.001, 1.0, "Probability that a sweep clears a running request.")
SEED = Param("seed", 0, 0, 2**32 - 1, "Seed of the sweeps; the same seed gives the same run.")
PATIENCE = 10_000  # clearings in which nobody completes or arrives


@policy(
    key="alpha-beta",
    title="Alpha-protection beta-clearing",
    rule="Admits in order of arrival while present use stays below (1 − alpha) M; when memory "
    "runs out, each of the batch starts over with probability beta, until the rest fits.",
    source="baseline of arXiv 2502.07115, its authors' code",
    group="classic",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(ALPHA, BETA, SEED),
    account=below_protected,
    cost=lambda n: 1e-6 * n,
)
def simulate(workload, memory, clock, progress, alpha, beta, seed):
    rule = Clearing(admission_limit(memory, alpha), beta, PATIENCE)
    return restarting("alpha-beta", workload, memory, rule, seed, clock, progress)
