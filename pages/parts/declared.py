"""What every page says of itself, read from its own file: nothing here lists pages.

A page ends with `page("Title", draw, icon=":material/..:", question="..?")`, all literals, and
its place in the navigation is the number that its file name begins with. Running a page to ask
it would draw it, so the call is read from the source.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
MAIN = "app.py"


@dataclass(frozen=True)
class Page:
    """A page as its file declares it.

    Attributes
    ----------
    path : of the file, from the project's folder
    title : in the navigation and the browser's tab
    icon : a Material symbol
    question : which it answers, one sentence
    """

    path: str
    title: str
    icon: str
    question: str


@cache
def declared_pages() -> tuple[Page, ...]:
    """Every page, in the order of the navigation.

    Raises
    ------
    ValueError
        Naming the file that declares no page, or not with literals.
    """
    by_place = sorted(PROJECT.glob("pages/*.py"), key=lambda file: _place(file.stem))
    return tuple(_declared(file) for file in (PROJECT / MAIN, *by_place))


def find_page(title: str) -> Page | None:
    """The page of this title, if there is one."""
    return next((page for page in declared_pages() if page.title == title), None)


def _place(name: str) -> tuple[int, str]:
    number, _, rest = name.partition("_")
    return (int(number), rest) if number.isdecimal() else (10**6, name)


def _declared(file: Path) -> Page:
    path = file.relative_to(PROJECT).as_posix()
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if (call := _page_call(statement)) is not None:
            named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
            return Page(path, ast.literal_eval(call.args[0]), named["icon"], named["question"])
    raise ValueError(f"{path} declares no page: end it with page(title, draw, icon=, question=)")


def _page_call(statement: ast.stmt) -> ast.Call | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "page":
        return call
    return None
