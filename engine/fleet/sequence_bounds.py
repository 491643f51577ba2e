"""What it costs that an engine runs no more than max_num_seqs requests at once.

A limit of sequences is a memory of its own: let every prompt have K tokens and M' be S(K + o) for
the longest output o. Any S of the requests fit in it at any point of their lives, so that every
schedule with at most S at once keeps within M', and what no schedule in M' can beat, none of these
can either. The larger K, the nearer M' comes to letting in S and no more.

Time is counted at its least: a round, or the c0 of a GPU, since K is no work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from engine.admission_limits import AdmissionLimits
from engine.bound import Bound
from engine.engines import Engine
from engine.machine.clock import Clock, seconds_clock
from engine.workload import MAX_MEMORY, Workload

LONG = 100  # K in the longest outputs: S + 1 outputs at their begin are 1 % too little memory
BINDS = 0.5  # share of the memory's own need from which the sequences' is looked at


def binds(engine: Engine, workload: Workload, memory: int) -> bool:
    """Whether sequences may be as scarce as memory.

    Parameters
    ----------
    workload : requests that fit, with the prompts that memory goes by
    """
    if not engine.max_num_seqs:
        return False
    by_sequences = float(workload.output.sum()) / engine.max_num_seqs
    return by_sequences > BINDS * float(workload.volume.sum()) / memory


def as_memory(most: int, workload: Workload, clock: Clock) -> tuple[Workload, int, Clock]:
    """The requests, the memory and the clock by which so many sequences are no more than that.

    Raises
    ------
    InputError
        Where all of the least times are 0.
    """
    longest = int(workload.output.max())
    prompt = max(1, min(LONG * longest, MAX_MEMORY // most - longest))
    columns = {field.name: getattr(workload, field.name) for field in fields(workload)}
    long = {"prompt": 0 * workload.prompt + prompt, "admission_limits": AdmissionLimits()}
    least = clock if clock.is_rounds else seconds_clock(clock.step.c0)
    return Workload(**{**columns, **long}), most * (prompt + longest), least


def at_least(rows: Sequence[Bound], others: Sequence[Bound], most: int) -> list[Bound]:
    """Each row, or the largest of the others that covers as much."""
    return [_larger(row, others, most) for row in rows]


def _larger(row: Bound, others: Sequence[Bound], most: int) -> Bound:
    able = [
        other
        for other in others
        if other.certified
        and other.covers_preemption >= row.covers_preemption
        and other.covers_cut_prompts >= row.covers_cut_prompts
    ]
    best = max(able, key=lambda other: other.value, default=row)
    if best.value <= row.value:
        return row
    how = f"{best.method} Of at most {most:,} requests at once, as the engine has it."
    return replace(
        row, value=best.value, method=how, certified=True, prices=None, machine_prices=None
    )
