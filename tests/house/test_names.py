"""The names of classes and of values."""

import ast
from collections import defaultdict

from tests.house.sources import SOURCES, relative


def test_one_name_is_one_class():
    """In the engine and the pages."""
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(relative(path))
    assert not {name: files for name, files in places.items() if len(files) > 1}


SAY_NOTHING = {"found", "told", "now", "given", "mine", "one", "each"}


def variables(path):
    """Every name that a file gives to a value: variables, parameters and fields."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def test_variables_have_the_names_of_what_they_are():
    """The field's word for a value, not that it was found or is one of many."""
    empty = {relative(path): SAY_NOTHING & set(variables(path)) for path in SOURCES}
    assert not {name: names for name, names in empty.items() if names}
