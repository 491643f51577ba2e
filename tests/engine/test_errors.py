"""What is said of bad input can be shown anywhere, whatever was quoted."""

import pytest

from engine import wording
from engine.errors import InputError


@pytest.mark.parametrize(
    ("quoted", "written"),
    [
        ("\x1b[2J", r"\x1b[2J"), ("a\nb\0", r"a\nb\x00"), ("\u202egpj", r"\u202egpj"),
        ("\ud800", r"\ud800"), (f"1{wording.THIN}000 µs – é 中", f"1{wording.THIN}000 µs – é 中"),
    ],
)  # fmt: skip
def test_control_characters(quoted, written):
    """Are written as their numbers; everything that has a shape stays."""
    assert str(InputError(f"got {quoted}")) == f"got {written}"


def test_long_values():
    """Lose their middle: the place stands in front, what to do at the end."""
    said = str(InputError(f"row 7: got {'x' * 10**6}: shorten it"))
    assert len(said) < 3_000
    assert said.startswith("row 7: got xxx")
    assert said.endswith("xxx: shorten it")
