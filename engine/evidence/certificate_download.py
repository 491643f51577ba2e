"""A proof to take away: a certificate and the very requests that it speaks of.

Class names and the rows of a larger trace play no part in a bound, so both are left out:
whoever reads the requests back has exactly what the certificate was made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.bound import Bound
from engine.evidence.certainty import strongest
from engine.evidence.certificate import certificate
from engine.traces import write_csv
from engine.workload import Workload

MOST_PRICES = 2_000_000  # in all bounds together; some 40 MB of text


def _bare(workload: Workload) -> Workload:
    return Workload(
        workload.arrival,
        workload.prompt,
        workload.output,
        admission_limits=workload.admission_limits,
    )


def provable(bounds: Sequence[Bound]) -> list[Bound]:
    """The strongest of the bounds that prices prove."""
    return strongest([bound for bound in bounds if bound.is_priced])


def is_too_long(bounds: Sequence[Bound]) -> bool:
    """Whether the certificate would be too long to hand out on a page."""
    prices = [prices for bound in bounds for prices in bound.prices or ()]
    return sum(len(part.by_round) for part in prices) > MOST_PRICES


def certificate_text(bounds: Sequence[Bound], workload: Workload, memory: int) -> str:
    """The certificate of these bounds for the requests of `requests_text`."""
    return certificate(bounds, _bare(workload), memory)


def requests_text(workload: Workload) -> str:
    """The requests as CSV, arrivals in clock units."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "requests.csv"
        write_csv(_bare(workload), path)
        return path.read_text(encoding="utf-8")
