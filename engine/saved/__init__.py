"""Views that are kept: what was looked at, what came out, and how two of them differ.

snapshot.py    a view with its results, as a value and as JSON
comparison.py  two of them, in words
keeping.py     the database that they are kept in
sweeps.py      finished parts of large sweeps, in the same database
"""

from engine.saved.comparison import Comparison, compare
from engine.saved.keeping import Keeping, Kept, database_url
from engine.saved.snapshot import Snapshot, facts_of, results_of

__all__ = [
    "Comparison",
    "Keeping",
    "Kept",
    "Snapshot",
    "compare",
    "database_url",
    "facts_of",
    "results_of",
]
