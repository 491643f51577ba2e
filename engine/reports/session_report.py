"""What somebody looks at as a web page in one file: to keep, to send round, to read offline."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version as version_of
from typing import Any

import pandas as pd

from engine import wording
from engine.bound import Bound
from engine.figures.cdf import draw_cdf
from engine.figures.gantt import draw_gantt
from engine.figures.gaps import draw_gaps, explain_lines
from engine.figures.html import Block, Link, Literal, html_page
from engine.measure.league import Entry, coverage_table, headline, label_of, written_table
from engine.measure.remarks import remarks
from engine.measure.set_aside import SetAside
from engine.simulate.run import Run
from engine.version import version

DRAWN = 8  # lines a chart; more cannot be told apart
LIBRARIES = ("numpy", "numba", "scipy", "highspy")
GAP = (
    "A gap of +9 % says that no schedule which the bound covers can have a total latency more "
    "than 9 % lower. Bounds are proved; a bound that does not cover a run is not set against it."
)


def session_report(
    title: str,
    facts: Mapping[str, Any],
    entries: Sequence[Entry],
    bounds: Sequence[Bound],
    link: str = "",
    beside: Sequence[str] = (),
) -> str:
    """The HTML: the answer, the scenario, who waits how long, the gaps, memory, the versions.

    Parameters
    ----------
    title : the scenario in one line
    facts : what the results depend on, as engine/saved/snapshot.py has it
    entries : the league, best first; none where no policy was picked
    link : an address that brings the view back
    beside : remarks on how requests were read, on what serves them, and on who has no result
    """
    if not entries:
        nothing = ["# No policy was run", Literal(f"{title}."), _facts(facts)]
        return html_page(f"Headroom: {title}", nothing)
    best = entries[0]
    blocks: list[Block] = [f"# {headline(entries)}", Literal(f"{title}.")]
    blocks += map(Literal, dict.fromkeys([*beside, *remarks(entries, bounds)]))
    blocks += ["## Requests", _requests(best.run)]
    blocks += ["## Every policy", written_table(entries), f"Times in {best.run.unit}."]
    blocks += ["## Who waits how long", _cdf(entries)]
    blocks += _gaps(entries, bounds)
    blocks += _memory(best)
    blocks += ["## What this depends on", _facts(facts)]
    blocks += [Link("The same in the dashboard:", link)] if link else []
    blocks += ["## Versions", _versions()]
    return html_page(f"Headroom: {title}", blocks)


def _requests(run: Run) -> pd.DataFrame:
    """How many there are, and how many of them never ran or left unserved, by reason."""
    aside, gave_up = SetAside.of_run(run), int(run.unserved.gave_up.sum())
    counts = {
        "Requests": len(run.set_aside) + run.offered,
        "Set aside: need more than M": aside.above,
        "Set aside: longer than max_model_len": aside.too_long,
        "Gave up": gave_up,
        "Turned away": len(run.unserved) - gave_up,
        "Served": len(run.workload),
    }
    written = [wording.count(count) for count in counts.values()]
    return pd.DataFrame({f"Under {label_of(run)}": list(counts), "Count": written})


def _cdf(entries: Sequence[Entry]):
    drawn = entries[:DRAWN]
    return draw_cdf(
        {entry.label: entry.run.latency for entry in drawn},
        {entry.label: entry.run.policy for entry in drawn},
        "end-to-end latency",
        drawn[0].run.unit,
    )


def _gaps(entries: Sequence[Entry], bounds: Sequence[Bound]) -> list[Block]:
    if not bounds:
        return ["## How far from the best possible", "No bound was computed."]
    return [
        "## How far from the best possible",
        GAP,
        draw_gaps(entries, bounds),
        explain_lines(bounds),
        coverage_table(entries, bounds),
    ]


def _memory(best: Entry) -> list[Block]:
    parts = best.run.parts
    of = f", on the first of {len(parts)} servers" if len(parts) > 1 else ""
    return [f"## Memory under {best.label}{of}", draw_gantt(parts[0])]


def _facts(facts: Mapping[str, Any]) -> pd.DataFrame:
    values = [wording.told(value) for value in facts.values()]
    return pd.DataFrame({"Fact": list(facts), "Value": values})


def _versions() -> pd.DataFrame:
    versions = {"engine": version(), "Python": platform.python_version()}
    versions |= {name: version_of(name) for name in LIBRARIES}
    return pd.DataFrame({"What": list(versions), "Version": list(versions.values())})
