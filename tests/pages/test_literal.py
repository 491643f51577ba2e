"""What is written as literal text loses nothing, and all that could be markup is kept off."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.figures import literal as figures
from pages.parts.literal import literal, sentence, shortened
from tests.services.reading import read

MARKS = ["`", "*", "_", "[", "](", "<b>", "$", "~~", ":x:", "://", "www.", "&amp;", "\\", "#", "|"]
TEXTS = st.lists(st.sampled_from(MARKS) | st.text(max_size=3), max_size=12).map("".join)
OPENING = "`*[]<>$~|&"


@given(TEXTS)
def test_nothing_is_lost(text):
    """Without its escapes it is the text again."""
    assert read(literal(text)) == shortened(text, 1000)


@given(TEXTS)
def test_nothing_is_left_to_open(text):
    """Each mark that begins something has its backslash, and what is found later is broken."""
    bare = re.sub(r"\\.", "", literal(text))
    assert not set(bare) & set(OPENING)
    assert not re.search(r":[\w+-]*[a-z_][\w+-]*[:/]|://|www\.", bare)


@given(TEXTS)
def test_it_is_one_line_of_what_can_be_seen(text):
    """No line break begins a block; no control character hides anything."""
    seen = shortened(text, 1000)
    assert seen == " ".join(seen.splitlines()).strip(" ")
    assert all(character.isprintable() or not character.isascii() for character in seen)


@pytest.mark.parametrize("text", ["1. x", "12) x", "- x", "+ x", "# x", "> x"])
def test_no_block_begins(text):
    """A backslash stands before what would make it a list, a heading or a quotation."""
    assert re.match(r"\d*\\", literal(text))


@pytest.mark.parametrize(
    "text", ["0.15", "max_model_len", "M = 16, a: b", "svf(skip=5)", "12:30", "-5", "a (b)", "50 %"]
)
def test_usual_text_stays(text):
    """A copy of what is plain has no stranger in it."""
    assert literal(text) == text


def test_long_and_hidden():
    """Cut with an ellipsis; what directs or hides text is shown to be there."""
    assert literal("x" * 5000, 80) == "x" * 79 + "…"
    assert literal("a\u202egnp.exe\x07\x00") == "a\ufffdgnp.exe\ufffd\ufffd"
    assert literal("a\r\n\u2028 b") == "a b"


def test_a_sentence_keeps_its_bold_words():
    """And nothing else."""
    assert sentence("**svf** serves a `b`.") == "**svf** serves a \\`b\\`."
    assert sentence("**[x](y)** and **b**") == "**\\[x\\](y)** and **b**"
    assert sentence("** a") == "\\*\\* a"


def test_plotly_resolves_it_to_the_text():
    """No tag, no place for a value, no TeX; references give the text back."""
    from html import unescape

    text = "<a href='x'>%{y} $x$ &lt; \\</a>"
    written = figures.literal(text)
    assert unescape(written) == text
    assert not set(written) & set("<>{$\\")
