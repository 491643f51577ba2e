"""Request classes: kinds of requests with laws for their lengths, one JSON file each.

A file in sample_data/classes is a class; its key is the file's name without the
ending. Nothing else has to be touched to add one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from engine.demand.laws import Lognormal, Quantiles, QuantilesByPrompt, read_law
from engine.errors import InputError
from engine.fields import build, number_in
from engine.sample_data import SAMPLE_DATA, files_by_key, read_record
from engine.workload import MAX_TOKENS

Law = Lognormal | Quantiles | QuantilesByPrompt


@dataclass(frozen=True, eq=False)
class RequestClass:
    """A kind of requests.

    Attributes
    ----------
    key, title, description : the name users type, the name they read, one line
    source, licence, made : where the lengths come from and how the laws were made
    prompt, output : laws of the lengths in tokens
    total_at_most : the most prompt + output can be; outputs are cut to it
    """

    key: str
    title: str
    description: str
    source: str
    licence: str
    made: str
    prompt: Law
    output: Law
    total_at_most: int = 2 * MAX_TOKENS

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt", read_law(cast(Any, self.prompt), "prompt"))
        object.__setattr__(self, "output", read_law(cast(Any, self.output), "output"))
        if isinstance(self.prompt, QuantilesByPrompt):
            raise InputError("prompt: a law by prompt is one for outputs")
        number_in(
            "total_at_most", self.total_at_most, self.prompt.high + 1, 2 * MAX_TOKENS, whole=True
        )

    def lengths(self, prompt_uniform: np.ndarray, output_uniform: np.ndarray):
        """(n,) int64 prompts and (n,) int64 outputs at (n,) uniform numbers in [0, 1)."""
        prompt = self.prompt.tokens(prompt_uniform, prompt_uniform)
        output = self.output.tokens(output_uniform, prompt_uniform)
        return prompt, np.minimum(output, self.total_at_most - prompt)


def read_classes(folder: Path) -> dict[str, RequestClass]:
    """Every class of a folder by its key; InputError names the file that is wrong."""
    return {
        key: build(RequestClass, {"key": key, **read_record(path)}, path.name)
        for key, path in files_by_key(folder).items()
    }


@cache
def classes() -> dict[str, RequestClass]:
    """The classes that ship with the project, by key."""
    return read_classes(SAMPLE_DATA / "classes")


def find_class(key: str) -> RequestClass:
    """The class called `key`; InputError names the ones there are."""
    known = classes()
    if key not in known:
        raise InputError(f"unknown request class {key}: choose from {', '.join(known)}")
    return known[key]
