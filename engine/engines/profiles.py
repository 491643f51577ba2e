"""The engines that are known, and the reader of `vllm:max_num_seqs=16,block_size=32`."""

from __future__ import annotations

from engine.engines.engine import Engine, with_options
from engine.engines.ideal import IDEAL
from engine.engines.trtllm import TRTLLM
from engine.engines.vllm import VLLM, on_gpu
from engine.errors import InputError
from engine.fields import number_of
from engine.machine.catalogue import Gpu

ENGINES = {engine.profile: engine for engine in (IDEAL, VLLM, TRTLLM)}


def find_engine(profile: str, gpu: Gpu | None = None) -> Engine:
    """The engine of this name, with its defaults on a GPU; InputError names those there are."""
    if profile == "sglang":
        raise InputError("the rules of sglang are not modelled yet: use vllm or trtllm")
    if profile not in ENGINES:
        raise InputError(f"unknown engine {profile}: choose from {', '.join(ENGINES)}")
    return on_gpu(gpu) if profile == VLLM.profile and gpu else ENGINES[profile]


def read_engine(text: str, gpu: Gpu | None = None) -> Engine:
    """`vllm` or `vllm:max_num_seqs=16,watermark=0.01`.

    Raises
    ------
    InputError
        For an unknown engine or option, or a value that it cannot have.
    """
    profile, colon, listed = text.partition(":")
    options: dict[str, object] = {}
    for pair in listed.split(",") if colon else ():
        name, equals, value = pair.partition("=")
        if not (equals and name and value):
            raise InputError(f"--engine must look like vllm:max_num_seqs=16, got {text}")
        options[name.strip()] = _read(name.strip(), value.strip())
    return with_options(find_engine(profile, gpu), options)


def _read(name: str, value: str) -> object:
    """A text as the value of an option: a number, a word, or 0 or 1 for what is on or off."""
    if not isinstance(getattr(IDEAL, name, None), bool):
        return number_of(value)
    if value not in ("0", "1"):
        raise InputError(f"{name} must be 0 or 1, got {value}")
    return value == "1"
