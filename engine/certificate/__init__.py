"""Bounds that can be checked by anybody: the prices, written down, and a checker of its own.

document.py  a certificate as a text, read and written
rounds.py    a bound in rounds, proved by prices of memory
seconds.py   a bound in seconds, proved by prices of machine time
row.py       what every bound says of itself
finding.py   what the checker finds

What the checkers take on trust are the theorems (engine/dual/__init__.py, engine/work/dual.py,
engine/work/envelope.py, engine/work/alone.py, engine/busy_periods.py), the trace and Python's
arithmetic.
"""

from engine.certificate.document import certificate, check
from engine.certificate.finding import Checked, Finding

__all__ = ["Checked", "Finding", "certificate", "check"]
