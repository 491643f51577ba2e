"""From fluid prices up to the optimum of the LP: prices on a grid, found by column generation.

The dual function L (engine/proof/dual) is concave in the prices, and its maximum is the LP's
optimum. With a price of its own for every round that is a problem of many thousand
variables. Here prices are a multiple of the fluid's (engine/proof/fluid.py) plus hat
functions on a grid of some hundred knots: near the optimum the fluid is right about the
shape and the hats bend it.

    maximise L(x * fluid + sum_g mu_g hat_g)   with x >= 0 and prices >= 0

L is the least of the planes that schedules define, so this is a linear program whose
rows are found as they are needed: evaluate L at the prices, add the plane of the
cheapest starts, solve again. Its dual, which is what HiGHS solves here (master.py), mixes
schedules by column so that the memory they hold, weighed by each hat, is what M allows.
Requests that are neighbours in a good schedule share one column: their starts are
cheapest at the same prices, so little is lost, and the master has 200 such blocks
whatever n is.

The master's value is a ceiling on what this grid can reach, L at any prices met on the
way is a floor, and a true bound in itself: stopping at any time leaves a certificate.
When the two meet, the grid is refined.
"""

from engine.proof.ascent.ascend import MAX_ROUNDS, ascend
from engine.proof.ascent.climb import Allowance, Ascent, climb

__all__ = ["MAX_ROUNDS", "Allowance", "Ascent", "ascend", "climb"]
