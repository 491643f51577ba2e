"""A preset of the user's own as a text: in the database, in a file, and what it may hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from engine.errors import InputError
from engine.fields import check_text, number_in, read_json
from engine.machine.catalogue import gpus, models
from engine.machine.clock import LONGEST
from engine.machine.preset import COEFFICIENTS, Preset, preset_of, record_of

FORMAT = "headroom preset 1"
PREFIX = "own-"  # of their keys, which those of the project's presets never have
MOST_IN_A_KEY = 250  # characters
FIELDS = {"title", "model", "gpu", "tensor_parallel", *COEFFICIENTS, "error_percent", "fit"}
MOST_CHARACTERS = 10_000  # of a preset in JSON
MOST_IN_A_TITLE = 100  # characters; what is saved here has fewer
MOST_PARALLEL = 1024  # GPUs a model is cut over
MOST_PERCENT = 1e6  # of a mean error


def key_of(title: str) -> str:
    """The key that follows from a title: `own-` and its letters and digits."""
    return PREFIX + re.sub(r"[\W_]+", "-", title.casefold()).strip("-")


def is_own(key: str) -> bool:
    """Whether a key is that of a preset of some user's own, here or elsewhere."""
    return key.startswith(PREFIX)


def write_preset(preset: Preset) -> str:
    """As JSON."""
    record = {"format": FORMAT, **record_of(preset)}
    return json.dumps(record, indent=1, ensure_ascii=False)


def read_preset(text: str, key: str) -> Preset:
    """The preset of this key in a JSON text; a file of versions that kept files has no format.

    Raises
    ------
    InputError
        Where it is none that can be shown and kept, naming what is wrong with it.
    """
    check_text("its key", key, MOST_IN_A_KEY)
    if not is_own(key):
        raise InputError(f"the key of a preset of your own must begin with {PREFIX}")
    record = read_json(text, "the preset", MOST_CHARACTERS)
    if not isinstance(record, dict):
        raise InputError("the preset must be one JSON object")
    if record.get("format", FORMAT) != FORMAT:
        raise InputError(f"the preset has another format than {FORMAT!r}: another version wrote it")
    missing = FIELDS - record.keys()
    if missing:
        raise InputError(f"this is no preset: it has no {', '.join(sorted(missing))}")
    _check(record)
    return preset_of({**record, "key": key})


def is_preset(text: str) -> bool:
    """Whether a JSON text is meant as a preset: that may still be wrong in it."""
    try:
        record = read_json(text, "", MOST_CHARACTERS)
    except InputError:
        return False
    if not isinstance(record, dict):
        return False
    return "preset" in str(record.get("format", "")) or ("format" not in record and "c0" in record)


def check_preset(preset: Preset) -> None:
    """InputError for what could not be shown or kept."""
    _check(record_of(preset))


def _check(record: Mapping[str, Any]) -> None:
    check_text("its title", record["title"], MOST_IN_A_TITLE)
    check_text("its fit", record["fit"])
    for name, known in (("model", models()), ("gpu", gpus())):
        check_text(f"its {name}", record[name])
        if record[name] not in ("", *known):
            raise InputError(f"its {name} is not known here: choose from {', '.join(known)}")
    number_in("its tensor_parallel", record["tensor_parallel"], 1, MOST_PARALLEL, whole=True)
    for name in COEFFICIENTS:
        number_in(f"its {name}", record[name], 0, LONGEST)
    if record["error_percent"] is not None:
        number_in("its error_percent", record["error_percent"], 0, MOST_PERCENT)
