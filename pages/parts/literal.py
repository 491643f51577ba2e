"""Text that somebody else wrote, put into Markdown as it stands: nothing of it is markup.

Nearly all that streamlit shows is Markdown: messages, captions, toasts, labels. Names of files,
classes, presets and views, values of a link and messages of errors go through `literal`;
a sentence of the engine that holds such a name beside its own **bold** goes through `sentence`.

A backslash keeps the parser off, but some things streamlit's frontend (1.67) looks for after
parsing, where no backslash is left: icons, emoji, addresses, arrows. A word joiner, which is
not seen, breaks those.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 1000  # characters of a message
JOINER = "\u2060"
UNSEEN = "\ufffd"  # stands for a character that would not be seen, or would turn text round

_BREAKS = re.compile(r"[\t-\r \x1c-\x1f\x85\u2028\u2029]+")
_MARKS = re.compile(r"[\\`*\[\]<>#$~|&]|(?<![^\W_])_|_(?![^\W_])|:(?=[^\W\d_])|\A[-+](?!\S)")
_NUMBERED = re.compile(r"\A(\d+)([.)])(?!\S)")  # would begin a list
_FOUND_LATER = re.compile(
    r"(?<=:)(?=(?:100|1234|[+-]1|[\w+-]*[^\W\d][\w+-]*)[:/]|//)"  # :smile:, :material/home:, //
    r"|(?<=@)(?=[-\w])|(?<=www)(?=\.)"
    r"|(?<=[-<>~])(?=[-=>])",  # arrows
    re.IGNORECASE,
)


def literal(text: object, most: int = LONGEST) -> str:
    """Markdown in one line that shows `text`, of which at most so many characters."""
    return _escaped(shortened(str(text), most))


def sentence(text: str) -> str:
    """Markdown that shows `text`, of which only `**bold**` is markup."""
    *pairs, last = re.split(r"\*\*(\S|\S.*?\S)\*\*", shortened(text, LONGEST))
    bold = [f"{_escaped(a)}**{_escaped(b)}**" for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
    return "".join(bold) + _escaped(last)


def shortened(text: str, most: int) -> str:
    """What is seen of a text: in one line, without control characters, cut with an ellipsis."""
    line = _BREAKS.sub(" ", text).strip(" ")
    seen = "".join(UNSEEN if _is_unseen(character) else character for character in line)
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def _is_unseen(character: str) -> bool:
    """Controls, lone surrogates, and marks that only direct: what they hide could mislead."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in "\u200c\u200d"


def _escaped(text: str) -> str:
    kept = _MARKS.sub(r"\\\g<0>", _FOUND_LATER.sub(JOINER, text))
    return _NUMBERED.sub(r"\1\\\2", kept)
