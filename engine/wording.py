"""How numbers are written everywhere: three digits, thousands apart, with their unit."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

THIN = "\u202f"  # narrow no-break space between thousands and before a unit
LONGEST = 2_000  # characters of a sentence that quotes what somebody else wrote
SMALLEST = 1e-9  # below, zeros are no longer written out


def number(value: float | None) -> str:
    """`value` in three significant digits, thousands apart: 0.0123, 4.56, 78.9, 12 300; 1e-12.

    A whole number is exact and is written in full.
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer():
        return count(value)
    if abs(value) < SMALLEST:
        return f"{value:.3g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:,.{max(0, digits)}f}".replace(",", THIN)


def count(value: float) -> str:
    """A whole number in full, thousands apart: 16 492."""
    return f"{int(value):,}".replace(",", THIN)


def total(value: float) -> str:
    """A sum of latencies: whole rounds, and hundredths where it is small."""
    return moment(value) if value < 1000 else count(value)


def amount(value: float | None, unit: str) -> str:
    """A number with its unit: 12 300 rounds."""
    written = number(value)
    return f"{written}{THIN}{in_number(written, unit)}"


def moment(value: float) -> str:
    """A point in time: in full, to the hundredth where it is not whole."""
    return count(value) if float(value).is_integer() else f"{value:,.2f}".replace(",", THIN)


def lasting(value: float, unit: str) -> str:
    """How long something took, as exact as a moment: 1 round, 3.50 seconds."""
    written = moment(value)
    return f"{written} {in_number(written, unit)}"


def counted(value: float, thing: str) -> str:
    """So many of a thing that is called `thing`: 1 request, 2 requests."""
    return f"{count(value)} {thing}" if value == 1 else f"{count(value)} {thing}s"


def in_number(written: str, unit: str) -> str:
    """A unit's name after a number as written: rounds, and after 1 round."""
    return unit.removesuffix("s") if written == "1" and len(unit) > 1 else unit


def tokens(value: float) -> str:
    return f"{count(value)}{THIN}tokens" if value != 1 else f"1{THIN}token"


def ratio(value: float) -> str:
    """How many times: 2.1x; 11x."""
    return f"{value:.2g}x" if value < 10 else f"{value:,.0f}x".replace(",", THIN)


def change(value: float) -> str:
    """A difference with its sign: +12.3, −0.5."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def percent(share: float) -> str:
    """A share of one as a percentage: 0.057 -> 5.7 %."""
    digits = 1 if abs(share) < 1 else 0
    return f"{100 * share:,.{digits}f}{THIN}%".replace(",", THIN)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def gap(value: float | None) -> str:
    """Cost over bound as the excess: 1.09 -> +9.0 %; a dash where no bound covers the run."""
    return "–" if value is None else f"+{percent(max(0.0, value - 1))}"


def told(value: object) -> str:
    """Any value of a setting: numbers as above, several with commas, nothing as `none`."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(told, value)) or "none"
    return number(value) if isinstance(value, (int, float)) else str(value)


def readable(text: str, most: int = LONGEST) -> str:
    """A sentence that quotes a file or a user, fit for any terminal and page.

    Control characters, marks that turn the direction of writing and halves of surrogate pairs are
    written as their numbers; of more than `most` characters the middle is left out, because
    what to do stands at the end.
    """
    plain = "".join(map(_written, text if len(text) <= most else _ends(text, most)))
    return plain if len(plain) <= most else _ends(plain, most)


def _ends(text: str, most: int) -> str:
    return f"{text[: most - most // 4]} … {text[-(most // 4) :]}"


def _written(character: str) -> str:
    shown = character.isprintable() or unicodedata.category(character) in ("Zs", "Co", "Cn")
    return character if shown else character.encode("unicode_escape").decode()
