"""What is asked, and its answer.

experiment.py  requests, what serves them, and the policies to compare: one hashable value
compare.py     its runs, bounds and league
advice.py      what other settings would do to its best run
"""

from engine.experiment.compare import Comparison, compare
from engine.experiment.experiment import Experiment

__all__ = ["Comparison", "Experiment", "compare"]
