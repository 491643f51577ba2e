"""What a reader sees of Markdown whose literal texts are escaped."""

import re
import string

from pages.parts.literal import JOINER

_ESCAPE = re.compile(rf"\\([{re.escape(string.punctuation)}])")


def read(markdown):
    """Without backslashes before marks and without word joiners; other markup stays."""
    return _ESCAPE.sub(r"\1", markdown.replace(JOINER, ""))
