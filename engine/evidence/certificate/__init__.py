"""Bounds that can be checked by anybody: the prices, written down, and a checker of its own.

document.py  a certificate as a text, read and written
rounds.py    a bound in rounds, proved by prices of memory
seconds.py   a bound in seconds, proved by prices of machine time
tokens.py    what each token costs at least, for the latter
row.py       what every bound says of itself
finding.py   what the checker finds

What the checkers take on trust are the theorems (in engine/proof: dual/__init__.py, work/dual.py,
work/envelope.py, work/alone.py, busy_periods.py), the trace and Python's arithmetic.
"""

from engine.evidence.certificate.document import certificate, check
from engine.evidence.certificate.finding import Checked, Finding

__all__ = ["Checked", "Finding", "certificate", "check"]
