"""Numbers are written with three digits, thousands apart, and a unit."""

import pytest

from engine import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.012345, "0.0123"), (4.5678, "4.57"), (78.91, "78.9"), (999.6, "1 000"),
        (12345, "12 345"), (12345.6, "12 300"), (1234567.8, "1 230 000"), (95.0, "95"),
        (-4.5678, "-4.57"), (None, "–"),
        (float("nan"), "–"),
    ],
)  # fmt: skip
def test_number(value, text):
    """Three significant digits over all sizes."""
    assert wording.number(value) == text.replace(" ", wording.THIN)


def test_other_forms():
    """Counts in full, gaps as an excess, ratios with an x."""
    thin = wording.THIN
    assert wording.tokens(16492) == f"16{thin}492{thin}tokens"
    assert wording.tokens(1) == f"1{thin}token"
    assert wording.gap(1.0912) == f"+9.1{thin}%"
    assert wording.gap(0.9999999) == f"+0.0{thin}%"
    assert wording.gap(None) == "–"
    assert wording.ratio(2.14) == "2.1x"
    assert [wording.listed("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert wording.percent(2.4) == f"240{thin}%"
    assert wording.percent(16.75) == f"1{thin}675{thin}%"
    assert wording.amount(12345.6, "rounds") == f"12{thin}300{thin}rounds"
    assert wording.moment(2226.5) == f"2{thin}226.50"
    assert wording.moment(2226.0) == f"2{thin}226"
