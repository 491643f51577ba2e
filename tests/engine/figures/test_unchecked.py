"""Charts whose traces plotly does not check when they are drawn: here it does."""

import plotly.graph_objects as go
import pytest

from engine import Scenario, find_policy, generate
from engine.figures.cdf import draw_cdf
from engine.figures.gantt import draw_gantt


@pytest.fixture(scope="module")
def runs():
    workload = generate(Scenario(n=60))
    return {key: find_policy(key).run(workload, 16_492) for key in ("vllm", "svf")}


def is_sound(drawn):
    """Whether plotly finds nothing wrong with a chart, nor anything to put in order."""
    record = drawn.to_plotly_json()
    return go.Figure(record).to_plotly_json()["layout"] == record["layout"]


@pytest.mark.parametrize("log", [False, True])
def test_cdf(runs, log):
    latencies = {key: run.latency for key, run in runs.items()}
    drawn = draw_cdf(latencies, {key: key for key in runs}, "latency", "rounds", log, 50.0)
    assert is_sound(drawn)
    assert [trace.name for trace in drawn.data] == ["svf", "vllm"]


@pytest.mark.parametrize("policy", ["vllm", "svf"])
@pytest.mark.parametrize("pinned", [None, 3])
@pytest.mark.parametrize("window", [None, (5, 300)])
def test_gantt(runs, policy, pinned, window):
    """The bars come last; a mark of one round goes through both charts."""
    drawn = draw_gantt(runs[policy], window, pinned=pinned, at=None if pinned is None else 7)
    assert is_sound(drawn)
    bars = [trace for trace in drawn.data if trace.type == "bar"]
    assert bars == list(drawn.data[-len(bars) :])
    assert len(drawn.layout.shapes) == (1 if pinned is None else 3)
    reds = [bar for bar in bars if isinstance(bar.marker.line.width, (list, tuple))]
    assert bool(reds) is (pinned is not None)
