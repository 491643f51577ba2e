"""What a fit rests on and leaves open, a sentence each: on the page, in JSON and on stderr."""

from __future__ import annotations

from engine import wording
from engine.calibrate.fit import Fit
from engine.calibrate.tokens import Benchmark


def remarks(bench: Benchmark, fitted: Fit) -> list[str]:
    """Which requests and rounds do not count, and which coefficients the data cannot tell."""
    sentences = []
    if bench.left_out:
        requests = wording.counted(bench.left_out, "request")
        sentences.append(f"Left out for want of usable timings: {requests}.")
    if bench.merged:
        sentences.append(
            f"{wording.counted(bench.merged, 'request')} got tokens in pieces of several: rounds "
            "and contexts are rougher for it."
        )
    if fitted.left_out:
        rounds = wording.counted(fitted.left_out, "round")
        sentences.append(f"Far off and not fitted: {rounds}.")
    return sentences + [f"{name} is undecided: {why}." for name, why in fitted.undecided.items()]
