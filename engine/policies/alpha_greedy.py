"""Alpha-protection greedy: admit below (1 - alpha) M, restart everyone on overflow."""

from engine.decisions.present_use import below_protected
from engine.policy import policy
from engine.policy_parameters import ALPHA
from engine.simulate.preempting import admission_limit
from engine.simulate.restarting import Clearing, restarting

PROTECTED = ALPHA.starting_at(0.25)
ONE_REPEAT = 2  # clearings in a row: the third meets what the second met


@policy(
    key="alpha-greedy",
    title="Alpha-protection greedy",
    rule="Admits in order of arrival while present use stays below (1 − alpha) M; when memory "
    "runs out all of the batch start over.",
    source="baseline of arXiv 2502.07115, its authors' code",
    group="classic",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(PROTECTED,),
    account=below_protected,
    cost=lambda n: 5e-7 * n,
)
def simulate(workload, memory, clock, progress, alpha):
    rule = Clearing(admission_limit(memory, alpha), 1.0, ONE_REPEAT)
    return restarting("alpha-greedy", workload, memory, rule, 0, clock, progress)
