"""Synthetic requests, described: which, how many, and how they arrive.

A scenario is a value: equal descriptions are equal, hash alike and generate
the same bytes (engine/demand/generate.py), so it can name cached runs and be a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from engine import wording
from engine.admission_limits import NO_LIMITS, AdmissionLimits
from engine.demand.arrivals import ARRIVALS
from engine.demand.predictions import EXACT, Predictions, read_predictions, write_predictions
from engine.demand.request_class import find_class
from engine.errors import InputError
from engine.fields import number_in
from engine.workload import MAX_ARRIVAL, MAX_TOKENS

MAX_REQUESTS = 1_000_000
RANGES = {  # name: (lowest, highest, whole)
    "n": (1, MAX_REQUESTS, True),
    "horizon": (1e-3, MAX_ARRIVAL, False),
    "rate": (1e-4, 10_000, False),
    "burstiness": (0.1, 10, False),
    "period": (1e-3, 10**9, False),
    "on_share": (0.01, 1, False),
    "seed": (0, 2**32 - 1, True),
}

Mix = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Scenario:
    """The requests of one experiment, before they are drawn.

    Attributes
    ----------
    mix : (class key, share) pairs. Shares are weights: given in any unit (80 and
        20, or 0.8 and 0.2), kept summing to 1. A class may have share 0, one must
        not; the workload's classes are these keys in this order. A mapping is
        taken too.
    n : how many requests; None where `horizon` decides
    horizon : the requests that arrive up to this time, in clock units, instead of n
    arrivals : `backlog` (all at 0), `poisson`, `gamma` or `on-off`
    rate : mean arrivals in a clock unit (all but backlog). In rounds the default mix
        fills M = 16,492 at 0.107 a round; the default 0.08 is a moderate load, at which
        2,000 Poisson requests of seeds 0 to 2 queue for 102 to 331 rounds on average
        under fcfs and for 15 to 36 under svf
    burstiness : coefficient of variation of the gaps between arrivals (gamma): 1 is
        Poisson, more is burstier. vLLM's --burstiness is 1 over its square
    period, on_share : arrivals come only in the first `on_share` of every `period`
        clock units (on-off)
    predict : how output lengths are predicted: a model of engine/demand/predictions.py, or its text
        such as `lognormal:bias=1,spread=0.5`
    seed : of all draws
    concurrency : a closed loop of so many clients, as in `Workload`; 0: as they arrive
    admission_limits : which requests are not served, whatever the policy

    Raises
    ------
    InputError
        Naming the field and what it may be.
    """

    mix: Mix = (("short", 0.8), ("long", 0.2))
    n: int | None = 2_000
    horizon: float | None = None
    arrivals: str = "backlog"
    rate: float = 0.08
    burstiness: float = 3.0
    period: float = 2_000.0
    on_share: float = 0.25
    seed: int = 0
    admission_limits: AdmissionLimits = NO_LIMITS
    predict: Predictions = EXACT
    concurrency: int = 0

    def __post_init__(self) -> None:
        kinds = tuple(ARRIVALS)
        if self.arrivals not in kinds:
            raise InputError(f"arrivals must be one of {', '.join(kinds)}, got {self.arrivals}")
        checked = {
            "mix": _checked_mix(self.mix),
            "predict": read_predictions(self.predict),
            "concurrency": number_in("concurrency", self.concurrency, 0, MAX_TOKENS, whole=True),
        }
        for name, (low, high, whole) in RANGES.items():
            value = getattr(self, name)
            if name == "n" and self.horizon is not None:
                checked[name] = None
            elif name != "horizon" or value is not None:
                checked[name] = number_in(name, value, low, high, whole=whole)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.horizon is not None:
            self._check_horizon(self.horizon)

    def _check_horizon(self, horizon: float) -> None:
        if self.arrivals == "backlog":
            raise InputError("a backlog has no horizon, all its requests arrive at 0: give n")
        expected = horizon * self.rate
        if expected > MAX_REQUESTS:
            raise InputError(
                f"horizon {horizon:g} at rate {self.rate:g} would be {expected:,.0f} "
                f"requests: lower one of them, {MAX_REQUESTS:,} is the most"
            )

    @property
    def requests(self) -> int:
        """How many there are, roughly where a horizon decides."""
        if self.horizon is not None:
            return int(self.horizon * self.rate)
        assert self.n is not None  # __post_init__ leaves one of the two
        return self.n

    def __str__(self) -> str:
        """One line for people: `2 000 requests, 80 % short / 20 % long, backlog`."""
        if self.horizon is None:
            how_many = wording.count(self.requests) + (" request" if self.n == 1 else " requests")
        else:
            how_many = f"requests up to time {self.horizon:g}"
        parts = [how_many, " / ".join(f"{100 * share:.3g} % {key}" for key, share in self.mix)]
        parts.append(self._arrivals_in_words())
        if self.predict != EXACT:
            parts.append(f"predictions {write_predictions(self.predict)}")
        parts += self.admission_limits.in_words()
        return ", ".join(parts + ([f"seed {self.seed}"] if self.seed else []))

    def _arrivals_in_words(self) -> str:
        return {
            "backlog": "backlog",
            "poisson": f"Poisson at rate {self.rate:g}",
            "gamma": f"gamma at rate {self.rate:g} with burstiness {self.burstiness:g}",
            "on-off": f"on-off at rate {self.rate:g}, on for {100 * self.on_share:.3g} % "
            f"of every {self.period:g}",
        }[self.arrivals]


def _checked_mix(mix: Mapping[str, float] | Iterable) -> Mix:
    pairs = [_pair(pair) for pair in (mix.items() if isinstance(mix, Mapping) else mix)]
    keys = [key for key, _ in pairs]
    for key in keys:
        find_class(key)
        if keys.count(key) > 1:
            raise InputError(f"mix names the class {key} twice: give each class one share")
    shares = [number_in(f"mix: the share of {key}", share, 0, 10**9) for key, share in pairs]
    total = fsum(shares)
    if total == 0:
        raise InputError("mix must give at least one class a share above 0, as in short=0.8")
    if abs(total - 1) < 1e-9:  # left alone, so that checking a checked mix changes nothing
        return tuple(zip(keys, shares, strict=True))
    return tuple((key, share / total) for key, share in zip(keys, shares, strict=True))


def _pair(pair) -> tuple[str, float]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
        raise InputError(f"mix must be pairs of a class and a share, got {pair!r}")
    return tuple(pair)


def read_mix(text: str) -> Mix:
    """`short=0.8,long=0.2` as the mix of a scenario.

    Raises
    ------
    InputError
        Naming the part that cannot be read, or what is wrong with the mix.
    """
    pairs = []
    for part in text.split(","):
        key, _, share = part.partition("=")
        try:
            pairs.append((key.strip(), float(share)))
        except ValueError:
            raise InputError(f"mix must look like short=0.8,long=0.2, got {part!r}") from None
    return _checked_mix(pairs)
