"""Formats are files: each recognises its own example and no other's."""

import io

import pytest

from engine.traces import read_requests
from engine.traces.head import look
from engine.traces.read import find_format, known_formats

LOGS = known_formats()[:-2]


def test_canonical_and_any_table_are_asked_last():
    """So that a log with our columns among others is read as the log."""
    names = [layout.NAME for layout in known_formats()]
    assert names[-2:] == ["canonical CSV", "table with named columns"]
    assert len(set(names)) == len(names) >= 19


@pytest.mark.parametrize("layout", known_formats(), ids=lambda layout: layout.NAME)
def test_own_example_is_recognised(layout):
    """And belongs to no other log."""
    head = look(io.BytesIO(layout.EXAMPLE.encode()))
    assert find_format(head) is layout
    assert [other for other in LOGS if other.matches(head)] == [layout] * (layout in LOGS)


@pytest.mark.parametrize("layout", known_formats(), ids=lambda layout: layout.NAME)
def test_own_example_is_read(layout):
    """Every row of it, strictly."""
    requests, report = read_requests(io.BytesIO(layout.EXAMPLE.encode()), strict=True)
    assert report.format == layout.NAME
    assert len(requests) == report.rows_in >= 1
    assert report.set_aside == {}
