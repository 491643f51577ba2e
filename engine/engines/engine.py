"""What a serving engine imposes on every policy: blocks, sequences, tokens a round, admission."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from engine import wording
from engine.errors import InputError
from engine.fields import hold_number
from engine.machine.clock import Clock
from engine.workload import Workload

ADMISSIONS = ("ideal", "present", "reserve")
VICTIMS = ("order", "newest", "last")
MOST = 10**9
NOT_YET = "is not modelled yet"


class InMemory(Workload):
    """The requests as memory sees them: a prompt may be empty, where all its tokens come later."""

    LEAST_PROMPT = 0


@dataclass(frozen=True)
class Engine:
    """One serving engine with its options.

    Attributes
    ----------
    profile : `ideal` (the papers': no limits, look-ahead, whole prompts), or whose rules it has
    block_size : tokens in a block of KV cache
    max_num_seqs : how many requests may run at once; 0: no limit
    max_num_batched_tokens : tokens a round may prefill and decode; 0: no limit
    chunked_prefill : whether prompts are cut to fit a round's tokens
    watermark : share of the blocks that admission leaves free while something runs
    standing : h: a request holds s + h + j tokens at the end of the round of its j-th token
    admission : `present`: where its blocks are free, and somebody is preempted when they run out;
        `reserve`: where blocks for the largest output are free, so that nobody is
    victim : who is preempted: `newest`, who returns first; `last` of the order, who returns to
        its place; `order`: newest under fcfs, else last
    reserve_full_input : whether all tokens of a request must fit when it is admitted, or only its
        first chunk
    max_output : what `reserve` keeps room for, tokens; 0: the largest output of all requests
    prefix_cache : not modelled yet
    title, source : its name and version, and where its rules and numbers were read

    Raises
    ------
    InputError
        For a value out of its range, or options that exclude each other.
    """

    profile: str
    block_size: int = 1
    max_num_seqs: int = 0
    max_num_batched_tokens: int = 0
    chunked_prefill: bool = False
    watermark: float = 0.0
    standing: int = 0
    admission: str = "ideal"
    victim: str = "order"
    reserve_full_input: bool = True
    max_output: int = 0
    prefix_cache: bool = False
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        hold_number(self, "block_size", 1, 10**6, whole=True)
        hold_number(self, "max_num_seqs", 0, 10**6, whole=True)
        hold_number(self, "max_num_batched_tokens", 0, MOST, whole=True)
        hold_number(self, "watermark", 0.0, 0.9)
        hold_number(self, "standing", -1, 10**6, whole=True)
        hold_number(self, "max_output", 0, MOST, whole=True)
        _one_of("admission", self.admission, ADMISSIONS)
        _one_of("victim", self.victim, VICTIMS)
        if self.chunked_prefill and not self.max_num_batched_tokens:
            raise InputError("chunked_prefill needs a round's tokens: set max_num_batched_tokens")
        if self.prefix_cache:
            raise InputError(f"a prefix cache {NOT_YET}: leave prefix_cache at 0")

    @property
    def is_ideal(self) -> bool:
        return self.admission == "ideal"

    @property
    def preempts(self) -> bool:
        """Whether requests may have to give up their KV cache."""
        return self.admission == "present"

    @property
    def reserves(self) -> bool:
        """Whether blocks for the whole output are kept from admission on."""
        return self.admission == "reserve"

    def share_kept(self, workload: Workload, memory: int) -> np.ndarray:
        """(n,) float64: the share of M that each request is promised where the engine reserves."""
        most = np.maximum(self.max_output or workload.output.max(), workload.output)
        blocks = -(-(workload.prompt + self.standing + most) // self.block_size)
        return np.minimum(1.0, blocks / (memory // self.block_size))

    @property
    def in_words(self) -> str:
        """`vLLM 0.32: blocks of 16 tokens, 256 sequences, 2,048 tokens a round, prompts cut`."""
        if self.is_ideal:
            return "ideal: look-ahead, no limits on sequences or tokens a round"
        limits = [f"blocks of {wording.counted(self.block_size, 'token')}"]
        if self.max_num_seqs:
            limits.append(wording.counted(self.max_num_seqs, "sequence"))
        if self.max_num_batched_tokens:
            how = "cut" if self.chunked_prefill else "whole"
            limits.append(f"{wording.count(self.max_num_batched_tokens)} tokens a round")
            limits.append(f"prompts {how}")
        if self.watermark:
            limits.append(f"watermark {self.watermark:g}")
        return f"{self.title}: {', '.join(limits)}"

    @property
    def remarks(self) -> list[str]:
        """What goes with every result inside it; nothing in the ideal engine."""
        if self.is_ideal:
            return []
        return [
            f"All policies run inside {self.in_words}.",
            f"{self.title} reuses the cache of equal prompts, which is not modelled: where prompts "
            "share their beginning, a real server is faster.",
        ]

    @property
    def options(self) -> dict[str, object]:
        """Every option by name."""
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names if name not in NO_OPTIONS}

    def whole_blocks(self, memory: int) -> int:
        """The tokens of M that are in whole blocks; InputError where M does not hold one."""
        if self.block_size > memory:
            raise InputError(
                f"block_size {self.block_size:,} is larger than M = {memory:,} tokens: lower it"
            )
        return memory // self.block_size * self.block_size

    def usable(self, memory: int) -> int:
        """The largest prompt + output that one request can have."""
        return self.whole_blocks(memory) - self.standing

    def in_memory(self, workload: Workload, clock: Clock) -> Workload:
        """The requests with prompts by which their memory goes, s + h, and their time at most.

        What holds of every run of these in `whole_blocks` of M holds of every run in the engine,
        which holds at least these tokens, in as many rounds. Where seconds count, a prompt is never
        made longer: its prefill would be too long.
        """
        standing = self.standing if clock.is_rounds else min(self.standing, 0)
        if not standing:
            return workload
        columns = {field.name: getattr(workload, field.name) for field in fields(workload)}
        limits = workload.admission_limits
        if limits.max_model_len:
            limits = replace(limits, max_model_len=limits.max_model_len + standing)
        held = {"prompt": workload.prompt + standing, "admission_limits": limits}
        return InMemory(**{**columns, **held})


NO_OPTIONS = ("profile", "title", "source")


def with_options(engine: Engine, options: dict[str, object]) -> Engine:
    """The same with some options changed.

    Raises
    ------
    InputError
        For an unknown option or value.
    """
    if engine.is_ideal and options:
        raise InputError("the ideal engine has no options: name vllm or trtllm")
    for name in options:
        if name not in engine.options:
            has = ", ".join(engine.options)
            raise InputError(f"engine {engine.profile} has no option {name} (it has: {has})")
    return replace(engine, **options)  # type: ignore[arg-type]


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value == "look-ahead":
        raise InputError(f"admission look-ahead inside an engine {NOT_YET}: use present or reserve")
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value}")
