"""Measured GPUs: what a round lasts on them, and how many tokens of KV cache they hold.

The tables lie in sample_data/: hardware.csv (coefficients of docs/model.md 1.2, in seconds, with
the error of the fit), models.csv and gpus.csv. sample_data/README.md names their sources.
Presets of the user's own stand beside those of the project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from engine import wording
from engine.errors import InputError
from engine.fields import number_in
from engine.machine.catalogue import LanguageModel, gpus, models, table_rows
from engine.machine.clock import Clock, seconds_clock
from engine.machine.own_presets import own_presets, unreadable
from engine.machine.preset import COEFFICIENTS, Preset, preset_of

GIB = 2**30
DEFAULT = "llama-2-70b-a100-tp4"


@dataclass(frozen=True)
class Budget:
    """Where the memory of one GPU goes, in GiB, and the tokens that are left.

    Attributes
    ----------
    usable, weights, reserve : memory times utilisation, and what is taken from it
    bytes_per_token : on each GPU
    """

    usable: float
    weights: float
    reserve: float
    bytes_per_token: float

    @property
    def for_cache(self) -> float:
        return self.usable - self.weights - self.reserve

    @property
    def tokens(self) -> int:
        """M: the whole tokens that fit."""
        return max(0, math.floor(self.for_cache * GIB / self.bytes_per_token))


@cache
def shipped_presets() -> dict[str, Preset]:
    """The presets that ship with the project, by key."""
    return {row["key"]: preset_of(row) for row in table_rows("hardware.csv")}


def presets() -> dict[str, Preset]:
    """Every preset by key: those that ship with the project, then the user's own."""
    return shipped_presets() | own_presets()


def find_preset(name: str) -> Preset:
    """The preset with this key, or the user's own of this name; InputError names those there are.

    Raises
    ------
    InputError
        Naming the keys, and what of the user's own cannot be read.
    """
    if name in shipped_presets():
        return shipped_presets()[name]
    own = own_presets()
    if name in own:
        return own[name]
    for preset in own.values():
        if preset.title.casefold() == name.casefold():
            return preset
    known = shipped_presets() | own
    problems = "".join(f"; {problem}" for problem in unreadable())
    raise InputError(f"unknown hardware {name}: choose from {', '.join(known)}{problems}")


def read_coefficients(text: str) -> Clock:
    """`c0=0.0372,c1=0.0002,N0=90,c2=5.7e-8,c3=4e-5` as a clock; those left out are 0.

    Raises
    ------
    InputError
        Naming the part that cannot be read, is unknown or is out of range.
    """
    by_name = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        name = name.strip()
        try:
            number = float(value)
        except ValueError:
            raise InputError(
                f"coefficients must look like c0=0.0372,c1=0.0002,N0=90, got {part!r}"
            ) from None
        if not equals or name not in COEFFICIENTS or name in by_name:
            twice = "given twice" if name in by_name else f"not one of {', '.join(COEFFICIENTS)}"
            raise InputError(f"coefficient {name!r} is {twice}")
        by_name[name] = number
    if "c0" not in by_name:
        raise InputError("coefficients need at least c0, the seconds a round takes anyway")
    return seconds_clock(*(by_name.get(name, 0.0) for name in COEFFICIENTS))


def budget(
    model: LanguageModel,
    memory_gib: float,
    tensor_parallel: int = 1,
    utilisation: float = 0.9,
    reserve_gib: float = 0.0,
    kv_bytes: float = 2,
    weight_bytes: float = 2,
) -> Budget:
    """How many tokens of KV cache a GPU has room for (docs/model.md 1.3).

    (memory x utilisation - weights / TP - reserve) /
    (2 x layers x max(1, kv_heads / TP) x head_dim x bytes)

    Parameters
    ----------
    memory_gib : of one GPU
    tensor_parallel : over how many GPUs the model is cut
    utilisation : share of the memory that the engine may use
    reserve_gib : activations, CUDA graphs and what else the engine keeps
    kv_bytes, weight_bytes : of one number: 2 in 16 bits, 1 in 8

    Raises
    ------
    InputError
        For a bad number, or where nothing is left for the cache.
    """
    number_in("GPU memory (GiB)", memory_gib, 1, 10_000)
    number_in("tensor parallel", tensor_parallel, 1, 1024, whole=True)
    number_in("utilisation", utilisation, 0.01, 1)
    number_in("reserve (GiB)", reserve_gib, 0, 10_000)
    memory = Budget(
        usable=memory_gib * utilisation,
        weights=model.parameters * weight_bytes / tensor_parallel / GIB,
        reserve=reserve_gib,
        bytes_per_token=model.bytes_per_token(tensor_parallel, kv_bytes),
    )
    if memory.tokens == 0:
        raise InputError(
            f"{model.title} leaves no KV cache: weights of {memory.weights:.1f} GiB a GPU and a "
            f"reserve of {reserve_gib:g} GiB fill {memory.usable:.1f} GiB; use more GPUs"
        )
    return memory


FAR = (0.5, 1.0)  # M as a share of what the GPUs hold: outside, it is most likely not theirs


def memory_doubt(memory: int, preset: Preset | None) -> str:
    """That M is far from what the preset's GPUs hold, as a sentence; empty where it is not."""
    held = None if preset is None else tokens_held(preset)
    if preset is None or held is None or FAR[0] <= memory / held <= FAR[1]:
        return ""
    share = wording.percent(memory / held)
    return f"M is {share} of the {wording.tokens(held)} that {preset.title} holds for KV cache."


def tokens_held(preset: Preset) -> int | None:
    """The M of a preset's GPUs as `budget` has it by default; None where they are not known."""
    if not (preset.model in models() and preset.gpu in gpus()):
        return None
    try:
        memory_gib = gpus()[preset.gpu].memory_gib
        return budget(models()[preset.model], memory_gib, preset.tensor_parallel).tokens
    except InputError:  # the weights do not fit
        return None
