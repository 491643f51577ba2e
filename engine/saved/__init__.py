"""Views that are kept: what was looked at, what came out, and how two of them differ.

snapshot.py    a view with its results, as a value and as JSON
soundness.py   what a view may hold
comparison.py  two of them, in words
keeping.py     those in a database
sweeps.py      finished parts of large sweeps, in the same database
"""

from engine.database import Unreadable, database_url
from engine.saved.comparison import Difference, compare
from engine.saved.keeping import Keeping, Kept
from engine.saved.snapshot import Snapshot, facts_of, results_of

__all__ = [
    "Difference",
    "Keeping",
    "Kept",
    "Snapshot",
    "Unreadable",
    "compare",
    "database_url",
    "facts_of",
    "results_of",
]
