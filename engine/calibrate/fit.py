"""Coefficients of docs/model.md 1.2 from rounds of known length, and how far the data decide them.

    T = c0 + c1*max(0, N - N0) + c2*K + c3*B,   all >= 0

For a given N0 this is linear: non-negative least squares (Lawson and Hanson), each round
weighed by 1/T so that errors count in per cent. For a given set of rounds above N0 it is
linear in c1 and c1*N0, too: so a hundred places for N0 are tried, spread evenly among the
values of N, each with the best N0 for the rounds above it, and the best is sharpened until
those rounds and N0 agree.

Rounds in which the server did something else meanwhile must not count. So the first fit has
the least sum of absolute errors, which a few rounds cannot move (by reweighted least
squares); those far off it are left out, and the others fitted by least squares.

A coefficient is undecided where the others can stand in for it: where its column is nearly
a combination of theirs, or where two standard errors of it move a typical round by more
than a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.calibrate.rounds import Rounds
from engine.errors import InputError
from engine.machine.clock import Clock, StepTime, seconds_clock

NAMES = ("c0", "c1", "N0", "c2", "c3")
KNEES = 100  # at most, to try
FEWEST = 20  # rounds
BESIDE = 5  # rounds on either side of N0 that it takes to tell where it is
FAR_OFF = 6.0  # robust standard deviations
NEVER_FAR = 0.01  # of a round
REWEIGHTED = 6  # times
REWEIGHTED_ROUNDS = 3000  # at most: it need only tell who is far off
SHARPENED = 10  # times
NO_ERROR = 1e-4  # of a round: smaller errors weigh no more than this
LEFT = 1e-6  # of a column's variation: less is a combination of the others
MATTERS = 0.1  # of a round


@dataclass(frozen=True, eq=False)
class Fit:
    """What the rounds say.

    Attributes
    ----------
    step : the coefficients
    rounds : those that were fitted
    left_out : how many were far off
    error : (5,) float64, a standard error of each coefficient; infinite where undecided
    undecided : name: why the data cannot tell it
    """

    step: StepTime
    rounds: Rounds
    left_out: int
    error: np.ndarray
    undecided: dict[str, str]

    @property
    def clock(self) -> Clock:
        return seconds_clock(*self.step)

    @cached_property
    def predicted(self) -> np.ndarray:
        """(k,) float64: seconds of each round by the fit."""
        rounds = self.rounds
        return self.step(rounds.prefilled, rounds.decoding, rounds.context)

    @cached_property
    def residual(self) -> np.ndarray:
        """(k,) float64: predicted over seen, less 1."""
        return _errors(self.step, self.rounds)

    @property
    def error_percent(self) -> float:
        """The mean of the absolute residuals."""
        return float(100 * np.abs(self.residual).mean())

    @property
    def text(self) -> str:
        """What `--coefficients` takes."""
        return ",".join(f"{name}={value:.6g}" for name, value in zip(NAMES, self.step, strict=True))


def fit(rounds: Rounds) -> Fit:
    """The coefficients that describe the rounds best.

    Raises
    ------
    InputError
        Where there are too few rounds.
    """
    if len(rounds) < FEWEST:
        raise InputError(
            f"only {len(rounds)} rounds of this benchmark have a known length, {FEWEST} are "
            "needed: run it with more requests or longer outputs"
        )
    off = _errors(_least_absolute(rounds), rounds)
    spread = 1.4826 * np.median(np.abs(off))
    near = np.abs(off) <= max(FAR_OFF * spread, NEVER_FAR)
    kept = rounds.take(near) if near.sum() >= FEWEST else rounds
    step = _best(kept)
    error, undecided = _certainty(step, kept)
    return Fit(step, kept, len(rounds) - len(kept), error, undecided)


def _errors(step: StepTime, rounds: Rounds) -> np.ndarray:
    """(k,) the fit over what was seen, less 1."""
    return step(rounds.prefilled, rounds.decoding, rounds.context) / rounds.seconds - 1


def _least_absolute(rounds: Rounds) -> StepTime:
    """Coefficients with about the least sum of absolute errors, over rounds spread evenly."""
    every = -(-len(rounds) // REWEIGHTED_ROUNDS)
    rounds = rounds.take(np.arange(0, len(rounds), every))
    weight = np.ones(len(rounds))
    for _ in range(REWEIGHTED):
        step = _best(rounds, weight)
        weight = 1 / np.sqrt(np.maximum(np.abs(_errors(step, rounds)), NO_ERROR))
    return step


def _best(rounds: Rounds, weight: np.ndarray | float = 1.0) -> StepTime:
    """The least squares, weighed, over every set of rounds that may lie above the knee."""
    tokens = (rounds.prefilled + rounds.decoding).astype(float)
    scale = weight / rounds.seconds
    values = np.unique(tokens)
    fits = [_at_knee(rounds, tokens, scale, 0.0)]
    cuts = np.unique(np.linspace(0, len(values) - 1, KNEES).astype(int))
    for low, high in zip(values[cuts[:-1]], values[cuts[1:]], strict=True):
        knee = _knee_between(rounds, tokens, scale, low, high)
        fits.append(_at_knee(rounds, tokens, scale, knee))
    best = min(fits, key=_squares)
    for _ in range(SHARPENED):  # the rounds above it are known now, unless it moves
        knee = _knee_between(rounds, tokens, scale, best[1].n0, values[-1])
        best = min(best, _at_knee(rounds, tokens, scale, knee), key=_squares)
        lower = values[max(0, int(np.searchsorted(values, best[1].n0)) - 1)]
        knee = _knee_between(rounds, tokens, scale, lower, best[1].n0)
        best = min(best, _at_knee(rounds, tokens, scale, knee), key=_squares)
    return best[1]


def _squares(fitted: tuple[float, StepTime]) -> float:
    return fitted[0]


def _knee_between(
    rounds: Rounds, tokens: np.ndarray, scale: np.ndarray, low: float, high: float
) -> float:
    """N0 in [low, high] that suits the rounds with more than `low` tokens being above it."""
    above = tokens > low
    columns = np.column_stack(
        [np.ones(len(tokens)), tokens * above, -1.0 * above, rounds.context, rounds.decoding]
    )
    slopes, _ = _solve(columns, rounds.seconds, scale)
    return float(np.clip(slopes[2] / slopes[1], low, high)) if slopes[1] > 0 else low


def _at_knee(
    rounds: Rounds, tokens: np.ndarray, scale: np.ndarray, knee: float
) -> tuple[float, StepTime]:
    """The sum of squares and the coefficients for this N0."""
    columns = np.column_stack(
        [
            np.ones(len(tokens)),
            np.maximum(0.0, tokens - knee),
            rounds.context,
            rounds.decoding,
        ]
    )
    (c0, c1, c2, c3), squares = _solve(columns, rounds.seconds, scale)
    return squares, StepTime(float(c0), float(c1), knee, float(c2), float(c3))


def _solve(columns: np.ndarray, seconds: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, float]:
    """Non-negative least squares, each row times its scale, and the sum of squares."""
    from scipy.optimize import nnls  # slow to import

    weighed = columns * scale[:, None]
    size = np.sqrt((weighed**2).sum(axis=0))
    size[size == 0] = 1.0
    solution, norm = nnls(weighed / size, seconds * scale)
    return solution / size, norm**2


def _certainty(step: StepTime, rounds: Rounds) -> tuple[np.ndarray, dict[str, str]]:
    """Standard errors, and why a coefficient is undecided."""
    tokens = (rounds.prefilled + rounds.decoding).astype(float)
    above = tokens > step.n0
    slopes = np.column_stack(
        [
            np.ones(len(tokens)),
            np.maximum(0.0, tokens - step.n0),
            -step.c1 * above,
            rounds.context.astype(float),
            rounds.decoding.astype(float),
        ]
    )
    undecided = _unseen(step, rounds, above)
    decided = [number for number, name in enumerate(NAMES) if name not in undecided]
    weighed = slopes[:, decided] / rounds.seconds[:, None]
    size = np.sqrt((weighed**2).sum(axis=0))
    scaled = weighed / size
    for place, number in enumerate(decided):
        others = np.delete(scaled, place, axis=1)
        if others.shape[1] == 0:
            continue
        rest = scaled[:, place] - others @ np.linalg.lstsq(others, scaled[:, place])[0]
        if np.linalg.norm(rest) < LEFT:
            undecided[NAMES[number]] = "it cannot be told from the others in these rounds"
    error = np.full(len(NAMES), np.inf)
    free = len(tokens) - len(decided)
    spread = float((_errors(step, rounds) ** 2).sum() / max(1, free))
    variance = np.diag(np.linalg.pinv(scaled.T @ scaled)) * spread
    error[decided] = np.sqrt(np.maximum(variance, 0)) / size
    typical = float(np.median(rounds.seconds))
    for number, name in enumerate(NAMES):
        if name in undecided:
            continue
        moves = 2 * error[number] * float(np.abs(slopes[:, number]).mean())
        if moves > MATTERS * typical:
            undecided[name] = (
                f"two standard errors of it move a round by {100 * moves / typical:.0f} %"
            )
    for name in undecided:
        error[NAMES.index(name)] = np.inf
    return error, undecided


def _unseen(step: StepTime, rounds: Rounds, above: np.ndarray) -> dict[str, str]:
    """Coefficients that the rounds never exercise."""
    why = {}
    enough = above.sum() >= BESIDE
    if not enough:
        why["c1"] = "no prompt was long enough: hardly a round has more than N0 tokens"
    if step.c1 == 0:
        why["N0"] = "tokens cost nothing in these rounds (c1 = 0)"
    elif not enough or (step.n0 > 0 and (~above).sum() < BESIDE):
        why["N0"] = "hardly a round lies on one side of it"
    elif step.n0 == 0 and (rounds.prefilled + rounds.decoding).min() > 1:
        why["N0"] = "no round has few enough tokens to show that some ride along"
    if (rounds.decoding > 0).sum() < BESIDE:
        why["c2"] = why["c3"] = "hardly a round decodes"
    return why
