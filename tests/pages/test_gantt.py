"""Memory Gantt: a pinned request has its story, and a window two ends."""

from engine import wording
from tests.services.opened_page import open_page, said


def test_story_by_link():
    """The pinned request's story is told beside the chart."""
    at = open_page(
        "pages/1_Memory_Gantt.py",
        **{"from": "six-identical", "shown": "vllm", "request": "4"},
    )
    told = said(at)
    assert "Request #4" in told
    assert "Lost its KV cache after round 4; came back at round 5" in told
    assert "At round 4 memory ran out" in told


def test_stepping_starts_at_the_pinned_arrival():
    """In seconds, at the round that first knows the request; a link may say another."""
    link = {"from": "chat-assistant", "shown": "svf", "request": "885", "stepping": "true"}
    at = open_page("pages/1_Memory_Gantt.py", **link)
    first = at.number_input(key="at").value
    assert f"round {wording.count(first)}" in said(at).split("is the first")[0]
    assert "Had it started at" in said(at)
    assert open_page("pages/1_Memory_Gantt.py", at="5", **link).number_input(key="at").value == 5


def test_window_the_wrong_way_round():
    """From after to is an error that says so."""
    at = open_page("pages/1_Memory_Gantt.py", begin="900", end="100")
    assert "From round must be before to round" in at.error[0].value
