"""The time of a trace on an axis: minutes or hours where it is on a wall clock."""

from __future__ import annotations

SCALES = ((3 * 3600.0, 3600.0, "h"), (300.0, 60.0, "min"), (0.0, 1.0, "s"))


def time_axis(span: float, unit: str, unit_seconds: float | None) -> tuple[float, str]:
    """How many clock units one step of the axis has, and the axis's title.

    Parameters
    ----------
    span : clock units on the axis
    unit_seconds : how long a unit is; None where it has nothing to do with seconds
    """
    if unit_seconds is None:
        return 1.0, f"time in the trace ({unit})"
    _, scale, short = next(scale for scale in SCALES if span * unit_seconds >= scale[0])
    return scale / unit_seconds, f"time in the trace ({short})"
