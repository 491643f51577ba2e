"""The round times of a server, from a benchmark of it (docs/model.md 1.2).

A benchmark that keeps every request's timings tells when each token came. Tokens that come
at the same moment were made in the same round (rounds.py), so it is known who was prefilled
and who decoded in each round, and how long it took; the coefficients of docs/model.md 1.2 are
those that fit these rounds best (fit.py). They can be kept as a preset (fitted.py).
"""

from engine.calibrate.fit import Fit, fit
from engine.calibrate.fitted import fitted_preset
from engine.calibrate.rounds import Rounds, see_rounds
from engine.calibrate.tokens import Benchmark, read_benchmark

__all__ = ["Benchmark", "Fit", "Rounds", "fit", "fitted_preset", "read_benchmark", "see_rounds"]
