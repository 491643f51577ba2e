"""FastServe: a skip-join multi-level feedback queue that swaps."""

from engine.decisions.levels import levels
from engine.decisions.present_use import by_rank
from engine.policy import policy
from engine.policy_parameters import TRANSFER, Param
from engine.simulate.feedback_queue import Levels, feedback_queue

QUANTUM = Param(
    "quantum", 16, 1, 10**6, "Tokens a request may generate on level 0; each level has twice more."
)
STARVED = Param(
    "starved", 3_000, 1, 10**9, "Rounds without service that take a request back to level 0."
)


def account(decision):
    """By level, on present use: those in memory rank before who is refused."""
    params = decision.params
    level = levels(decision, decision.candidates, params["quantum"], params["starved"])
    return by_rank(decision, level, decision.memory)


@policy(
    key="fastserve",
    title="FastServe",
    rule="Requests sink a level each time they use up its quantum of tokens; before each round "
    "the highest levels run, the others are swapped out.",
    source="FastServe (arXiv 2305.05920), its authors' code; milliseconds made rounds",
    group="deployed",
    uses_lengths=False,
    may_give_up_kv=True,
    params=(QUANTUM, STARVED, TRANSFER),
    account=account,
    swaps=lambda params: True,
    cost=lambda n: 5e-6 * n + 3e-10 * n**2,
)
def simulate(workload, memory, clock, progress, quantum, starved, transfer):
    return feedback_queue(workload, memory, Levels(quantum, starved, transfer), clock, progress)
