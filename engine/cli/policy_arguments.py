"""The arguments that choose policies, and the one reader of `--policy`, `--param` and `--seed`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from engine.choice import Choice
from engine.errors import InputError
from engine.fields import number_in
from engine.policy import find_policy

USUALLY = "every quick one"


def add_policy_arguments(parser: argparse.ArgumentParser, usually: str = USUALLY) -> None:
    parser.add_argument(
        "--policy",
        action="append",
        metavar="KEY",
        help=f"a policy to run, repeatable (default: {usually})",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="KEY.NAME=VALUE",
        help="a parameter of a policy, repeatable, such as svf.skip=5",
    )


def read_choices(arguments: argparse.Namespace, usual: Iterable[Choice]) -> tuple[Choice, ...]:
    """The policies that were asked for, else the usual ones, with the parameters given.

    Raises
    ------
    InputError
        For an unknown policy, a bad parameter, or one of a policy that is not among them.
    """
    params_of = _read_params(arguments.param)
    keys = list(dict.fromkeys(arguments.policy or [choice.key for choice in usual]))
    for key in keys:
        find_policy(key)
    for key in params_of.keys() - set(keys):
        raise InputError(f"a parameter of {key} is given, but {key} is not among the policies")
    seed = read_seed(arguments)
    return tuple(_choice(key, params_of.get(key, {}), seed) for key in keys)


def read_seed(arguments: argparse.Namespace) -> int | None:
    """`--seed`, checked; None where it was not given."""
    if arguments.seed is None:
        return None
    return number_in("--seed", arguments.seed, 0, 2**32 - 1, whole=True)


def _choice(key: str, params: dict[str, str], seed: int | None) -> Choice:
    """`--seed` is that of every policy that draws at random and was given none of its own."""
    draws = any(param.name == "seed" for param in find_policy(key).params)
    return Choice.of(key, {"seed": seed, **params} if draws and seed is not None else params)


def _read_params(texts: list[str]) -> dict[str, dict[str, str]]:
    """`KEY.NAME=VALUE` texts as {key: {name: value}}."""
    params: dict[str, dict[str, str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        key, dot, name = place.rpartition(".")
        if not (equals and dot and key and name and value):
            raise InputError(f"--param must look like svf.skip=5, got {text}")
        find_policy(key)
        params.setdefault(key, {})[name] = value
    return params
