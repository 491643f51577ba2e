"""Compile everything ahead, so that no visitor of the dashboard waits for it."""

from __future__ import annotations

import argparse
import multiprocessing
import os
from contextlib import suppress
from typing import Any

from engine.bound_method import METHODS
from engine.demand.generate import generate
from engine.demand.scenario import Scenario
from engine.engines import ENGINES
from engine.errors import InputError
from engine.machine.clock import ROUNDS
from engine.machine.hardware import DEFAULT, find_preset
from engine.policy import POLICIES, Policy

REQUESTS = 30
MEMORY = 12_000  # tokens: some wait, and some are preempted
AN_ORDER = "fcfs"  # run inside every engine, too
TIME_LIMIT = 1.0  # seconds for a solver


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> None:
    """In two processes that begin at the two ends and take from the cache what is there."""
    work = [*POLICIES, *METHODS]
    orders = [work, work[::-1]][: os.cpu_count() or 1]
    spawned = multiprocessing.get_context("spawn")
    others = [spawned.Process(target=_compile, args=(order,)) for order in orders[1:]]
    for process in others:
        process.start()
    _compile(orders[0])
    for process in others:
        process.join()
    print(f"compiled: {len(POLICIES)} policies, {len(METHODS)} bounds")


def _compile(order: list[str]) -> None:
    """Run each on a small workload, on both clocks."""
    workload = generate(Scenario(n=REQUESTS))
    for key in order:
        for clock in (ROUNDS, find_preset(DEFAULT).clock):
            if key in POLICIES:
                for params in _variants(POLICIES[key]):
                    with suppress(InputError):  # parameters that exclude each other
                        POLICIES[key].run(workload, MEMORY, clock, **params)
                if key == AN_ORDER:
                    for engine in ENGINES.values():
                        POLICIES[key].inside(engine).run(workload, MEMORY, clock)
            elif METHODS[key].speaks(clock):
                with suppress(InputError):
                    METHODS[key].bounds(workload, MEMORY, clock, time_limit=TIME_LIMIT)


def _variants(policy: Policy) -> list[dict[str, Any]]:
    """The defaults, and each switch the other way: another switch may be another kernel."""
    switches = [param for param in policy.params if (param.low, param.high) == (0, 1)]
    return [{}, *({param.name: 1 - param.default} for param in switches if param.is_whole)]
