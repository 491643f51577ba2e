"""Capacities as records: one an offer, for JSON and for tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.capacity.binding import Binding
from engine.capacity.cost import Price
from engine.capacity.offer import Offer, best_first
from engine.choice import Choice
from engine.fleet import Deployment
from engine.workload import Workload


def fitting(choice: Choice, workload: Workload, deployment: Deployment) -> np.ndarray:
    """(n,) bool: who is not set aside."""
    return workload.fits(deployment.usable(choice))


def rows(
    offers: Sequence[Offer], load: float, requests: Workload, deployment: Deployment, price: Price
) -> list[dict]:
    """One record an offer: rate, interval, what binds, who is set aside, servers and their cost.

    Costs are those of the servers at the load; None where there is no number of servers, those
    of tokens also in rounds. Tokens are those of requests that are served: who is set aside, gives
    up or is turned away has none. `cost_per_million_tokens` is of output.

    Parameters
    ----------
    requests : as they are drawn at present; their share that is set aside is counted
    """
    return [_row(offer, load, requests, deployment, price) for offer in best_first(offers)]


def _row(
    offer: Offer, load: float, requests: Workload, deployment: Deployment, price: Price
) -> dict:
    capacity, count = offer.capacity, offer.count
    low, high = capacity.interval or (None, None)
    kept_up = capacity.kept_up
    seeds = zip(capacity.seeds, capacity.borders, strict=True)
    aside = int((~fitting(capacity.choice, requests, deployment)).sum())
    return {
        "policy": capacity.choice.key,
        "params": capacity.choice.values,
        "rate": capacity.rate,
        "at_least": capacity.is_least,
        "low": low,
        "high": high,
        "binding": binding_row(capacity.binding),
        "ceiling": capacity.ceiling,
        "kept_up": None if kept_up is None else kept_up.carries,
        "until_burst": capacity.until_burst,
        "set_aside": aside,
        "set_aside_share": aside / len(requests),
        "served_share": capacity.served,
        "verdict": "carried" if capacity.rate else "not carried",
        "servers": count,
        "pools": None if count is None else offer.pools,
        "one_fewer": None if offer.servers is None else offer.servers.one_fewer or None,
        "cost_per_hour": None if count is None else price.an_hour(count),
        **_token_costs(offer, load, requests, deployment, price),
        "seeds": [{"seed": s, "carries": b.carries, "fails": b.fails} for s, b in seeds],
    }


def binding_row(binding: Binding | None) -> dict | None:
    """As JSON has it: its kind, and whose limit it is; None where it is unknown."""
    if binding is None:
        return None
    return {"kind": binding.kind, "class": binding.of_class or None}


def _token_costs(
    offer: Offer, load: float, requests: Workload, deployment: Deployment, price: Price
) -> dict[str, float | None]:
    """For a million tokens served: of output, of prompts, of both."""
    fits = fitting(offer.capacity.choice, requests, deployment)
    tokens = {
        "cost_per_million_tokens": requests.output,
        "cost_per_million_input_tokens": requests.prompt,
        "cost_per_million_total_tokens": requests.peak,
    }
    if offer.servers is None or offer.count is None:
        return dict.fromkeys(tokens)
    share = offer.servers.served

    def cost(values: np.ndarray) -> float | None:
        mean = share * float((values * fits).mean())
        return price.a_million_tokens(offer.count or 0, load, mean, deployment.clock)

    return {name: cost(values) for name, values in tokens.items()}
