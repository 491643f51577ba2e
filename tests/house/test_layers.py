"""What may import what: layers, rooms, no circles (CONTRIBUTING.md)."""

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.sources import ROOT, SOURCES, imports, imports_of, module_of, relative


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_point_one_way(path):
    """pages -> parts -> figures -> metrics -> policies, bounds -> simulate -> workload."""
    name = relative(path)
    if name.startswith("engine/"):
        assert not imports(path, "streamlit", "pages", "app")
    if not name.startswith("engine/figures/"):
        assert not imports(path, "plotly")
    if not name.startswith("engine/cli/"):
        assert not imports(path, "argparse")


LAYERS = (
    ("arrow_pool", "errors", "fields", "wording", "policy_parameters"),
    ("compilations", "compiled", "registry", "sample_data", "user_data", "database", "version"),
    ("machine", "admission_limits", "workload"),
    ("engines",),
    ("progress", "places", "simulate"),
    ("decisions",),
    ("policy", "batches", "fluid", "memory_curve"),
    ("choice", "proof"),
    ("bound", "improve"),
    ("bound_method", "policies"),
    ("bounds",),
    ("demand", "traces"),
    ("fleet", "measure", "mode"),
    ("experiment",),
    ("calibrate", "evidence", "audit", "scale_out"),
    ("capacity",),
    ("sweeps", "uncertainty", "learn", "saved"),
    ("figures",),
    ("reports",),
    ("cli",),
)
LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}
ENTRANCES = {"__init__", "__main__"}  # the engine's own, which see everything


def room(path):
    return path.relative_to(ROOT / "engine").with_suffix("").parts[0]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(ROOT.glob("engine/**/*.py")) if room(path) not in ENTRANCES],
    ids=relative,
)
def test_the_engine_is_in_layers(path):
    """Nothing in the engine imports from a layer above its own."""
    parts = [name.split(".") for name in imports_of(path) if name.startswith("engine.")]
    above = {name for _, name, *_ in parts if LAYER_OF.get(name, 0) > LAYER_OF[room(path)]}
    assert not above


def test_every_room_has_its_layer():
    """Nothing joins the engine's root unnoticed, and no layer names what is gone."""
    names = {room(path) for path in ROOT.glob("engine/**/*.py")} - ENTRANCES
    assert names == set(LAYER_OF)


MODULES = {module_of(path): path for path in SOURCES}


def imported_modules(path):
    """The project's modules that a file names in an import, anywhere in it.

    `from package import name` is an import of `package.name` where that is a module, and of the
    package's own file where it is not.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


IMPORTS = {
    name: set(imported_modules(path)) & set(MODULES) - {name} for name, path in MODULES.items()
}


def check_no_circle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" <- ".join(circle.args[1]))


def test_there_are_no_import_circles():
    """In the whole tree; an import within a function, or for types only, opens none."""
    check_no_circle(IMPORTS)


def next_below(package, module):
    """`engine.a` of engine.a.b, seen from `engine`; None outside, and of the package itself."""
    rest = module.removeprefix(f"{package}.")
    return None if rest == module else f"{package}.{rest.split('.')[0]}"


PACKAGES = sorted({name.rpartition(".")[0] for name in MODULES} - {""})


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_import_one_way(package):
    """What lies in one folder, its folders as wholes, imports from one another in no circle."""
    rooms = defaultdict(set)
    for name, imported in IMPORTS.items():
        own = next_below(package, name)
        rooms[own] |= {next_below(package, other) for other in imported} - {own, None}
    check_no_circle({room: others for room, others in rooms.items() if room})


def imports_in_functions(path):
    """The lines of a file on which a function imports something."""
    lines = path.read_text().splitlines()
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield lines[node.lineno - 1]


def test_an_import_in_a_function_says_why():
    """In a comment on its line."""
    lines = {relative(path): list(imports_in_functions(path)) for path in SOURCES}
    assert not {
        name: silent
        for name in lines
        if (silent := [line for line in lines[name] if "#" not in line])
    }
