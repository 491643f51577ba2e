"""A fit as a preset: which engine and version it models, from which file, since when."""

from __future__ import annotations

from datetime import date

from engine import wording
from engine.calibrate.fit import Fit
from engine.machine.preset import Preset


def fitted_preset(
    title: str,
    found: Fit,
    source: str,
    *,
    server: str = "",
    engine: str = "",
    model: str = "",
    gpu: str = "",
    tensor_parallel: int = 1,
) -> Preset:
    """The preset of this title, not kept yet: `engine.machine.own_presets.save` does that.

    Parameters
    ----------
    source : the benchmark's file
    server : what the file says of engine, model and date
    engine : what the user says of engine and version
    model, gpu : keys of engine.machine.hardware, where known: they tell KV cache and price
    """
    models = ", ".join(" ".join(told.split()) for told in (engine, server) if told.strip())
    told = [
        f"least squares on {wording.count(len(found.rounds))} rounds of {source}",
        f"models {models or 'an engine that is not named'}",
        f"saved {date.today().isoformat()}",
    ]
    if found.undecided:
        told.append(f"undecided: {', '.join(found.undecided)}")
    return Preset(
        key="",
        title=title,
        model=model,
        gpu=gpu,
        tensor_parallel=tensor_parallel,
        clock=found.clock,
        error_percent=round(found.error_percent, 2) or None,
        fit="; ".join(told),
    )
