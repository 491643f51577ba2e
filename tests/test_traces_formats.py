"""Formats are files: each recognises its own header and no other's."""

import pytest

from engine.traces.read import find_format, known_formats


def test_canonical_is_asked_last():
    """So that a log with our columns among others is read as the log."""
    assert known_formats()[-1].NAME == "canonical CSV"
    assert len({layout.NAME for layout in known_formats()}) == len(known_formats()) >= 2


@pytest.mark.parametrize("layout", known_formats(), ids=lambda layout: layout.NAME)
def test_own_header_is_recognised(layout):
    """And matches no other format."""
    assert find_format(layout.HEADER) is layout
    assert [other for other in known_formats() if other.matches(layout.HEADER)] == [layout]
