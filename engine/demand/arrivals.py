"""When requests arrive: uniform numbers in [0, 1) become arrival times.

Every process is a sequence of gaps with mean 1, summed and divided by the
rate. The uniform numbers are the gaps' probabilities, so that a change of the
rate only stretches the same arrivals, and more requests only add later ones.

Gaps are rounded to 2**-20 of their mean before they are summed. The sum is
then exact in integers, and the last bits of a logarithm, which differ between
machines, cannot grow along a million arrivals.
"""

from __future__ import annotations

import numpy as np

TICKS = 2**20  # a mean gap
DECIMALS = 6  # of an arrival, in clock units
GAMMA_NODES = 4096


def _gamma_gaps(exponential: np.ndarray, burstiness: float) -> np.ndarray:
    """Gamma gaps with mean 1 and coefficient of variation `burstiness`.

    The gamma quantile is read as a function of the exponential variate of the
    same probability from a table, straight in logarithms: exact for burstiness 1,
    within 1e-3 of the quantile from 0.1 to 10.
    """
    from scipy.special import gammainccinv, gammaincinv  # slow to import

    shape = 1 / burstiness**2
    log_exponential = np.linspace(np.log(2.0**-53), np.log(37.0), GAMMA_NODES)
    node = np.exp(log_exponential)
    # Each tail from its own end: 1 - p has no digits left where p is near 1.
    below, above = gammaincinv(shape, -np.expm1(-node)), gammainccinv(shape, np.exp(-node))
    quantile = np.where(node < 1, below, above) / shape
    log_gap = np.log(np.maximum(quantile, np.finfo(float).tiny))
    with np.errstate(divide="ignore"):
        return np.exp(np.interp(np.log(exponential), log_exponential, log_gap))


def _times(gaps: np.ndarray, rate: float) -> np.ndarray:
    ticks = np.cumsum(np.rint(gaps * TICKS).astype(np.int64))
    return ticks / TICKS / rate


def _backlog(uniform, scenario):
    return np.zeros(len(uniform))


def _poisson(uniform, scenario):
    return _times(-np.log1p(-uniform), scenario.rate)


def _gamma(uniform, scenario):
    return _times(_gamma_gaps(-np.log1p(-uniform), scenario.burstiness), scenario.rate)


def _on_off(uniform, scenario):
    """Poisson arrivals, each period's squeezed into its first part."""
    steady = _poisson(uniform, scenario)
    begin = np.floor(steady / scenario.period) * scenario.period
    return begin + scenario.on_share * (steady - begin)


ARRIVALS = {"backlog": _backlog, "poisson": _poisson, "gamma": _gamma, "on-off": _on_off}


def arrival_times(uniform: np.ndarray, scenario) -> np.ndarray:
    """(n,) float64, clock units, ascending, whole multiples of 1e-6.

    Parameters
    ----------
    uniform : (n,) independent uniform numbers in [0, 1)
    scenario : its `arrivals` names one of ARRIVALS; `rate` and, where that kind
        uses them, `burstiness`, `period` and `on_share`
    """
    return np.round(ARRIVALS[scenario.arrivals](uniform, scenario), DECIMALS)
