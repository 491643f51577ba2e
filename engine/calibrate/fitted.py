"""A fit as a preset: which engine and version it models, from which file, since when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from engine import wording
from engine.calibrate.fit import Fit
from engine.machine.preset import Preset


@dataclass(frozen=True)
class Served:
    """What the user says of the server that was measured.

    Attributes
    ----------
    engine : and its version
    model, gpu : keys of engine.machine.hardware, where known: they tell KV cache and price
    tensor_parallel : over how many GPUs the model is cut
    """

    engine: str = ""
    model: str = ""
    gpu: str = ""
    tensor_parallel: int = 1


NOT_SAID = Served()


def fitted_preset(
    title: str, fit: Fit, source: str, server: str = "", served: Served = NOT_SAID
) -> Preset:
    """The preset of this title, not kept yet: `engine.machine.own_presets.save` does that.

    Parameters
    ----------
    source : the benchmark's file
    server : what the file says of engine, model and date
    """
    named = [" ".join(text.split()) for text in (served.engine, server) if text.strip()]
    notes = [
        f"least squares on {wording.counted(len(fit.rounds), 'round')} of {source}",
        f"models {', '.join(named) or 'an engine that is not named'}",
        f"saved {date.today().isoformat()}",
    ]
    if fit.undecided:
        notes.append(f"undecided: {', '.join(fit.undecided)}")
    return Preset(
        key="",
        title=title,
        model=served.model,
        gpu=served.gpu,
        tensor_parallel=served.tensor_parallel,
        clock=fit.clock,
        error_percent=round(fit.error_percent, 2) or None,
        fit="; ".join(notes),
    )
