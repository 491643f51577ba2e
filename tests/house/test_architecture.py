"""The house rules that the folder tree promises (CONTRIBUTING.md)."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])


def imports_of(path):
    """Every module a file names in an import, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def relative(path):
    return path.relative_to(ROOT).as_posix()


def imports(path, *packages):
    return any(
        name == package or name.startswith(f"{package}.")
        for name in imports_of(path)
        for package in packages
    )


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
    ("progress", "simulate"),
    ("policy", "batches", "fluid", "memory_curve"),
    ("choice", "proof"),
    ("bound", "improve"),
    ("bound_method", "policies"),
    ("bounds",),
    ("demand", "traces"),
    ("fleet", "measure"),
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


def module_of(path):
    """`engine.a.b`; a package by its folder."""
    return relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


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


MOST_LINES = 350


def test_no_file_is_long():
    """Of the product, the tests and the benchmarks."""
    files = {*SOURCES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")}
    long = {relative(path) for path in files if len(path.read_text().splitlines()) > MOST_LINES}
    assert not long


MOST_PARAMETERS = 7


def public_functions(path):
    """(name, function) of those that others may call; kernels and policies' own runs left out.

    A policy's own function takes what every policy takes, and its parameters by name.
    """
    is_policy = relative(path).startswith("engine/policies/")
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if decorated(node) is None and not is_policy:
            yield node


def parameters(function):
    taken = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [name.arg for name in taken if name.arg not in ("self", "cls")]


def test_no_public_function_has_many_parameters():
    """What belongs together is a value."""
    long = {
        f"{relative(path)}: {node.name}": len(parameters(node))
        for path in SOURCES
        for node in public_functions(path)
        if len(parameters(node)) > MOST_PARAMETERS
    }
    assert not long


def test_one_name_is_one_class():
    """In the engine and the pages."""
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(relative(path))
    assert not {name: files for name, files in places.items() if len(files) > 1}


SAY_NOTHING = {"found", "told", "now", "given", "mine", "one", "each"}
REMAINING = {  # files that still have such names, to be mended
    "engine/capacity/answer.py",
    "engine/machine/hardware.py",
    "engine/machine/own_presets.py",
    "engine/saved/comparison.py",
    "engine/saved/keeping.py",
    "engine/saved/snapshot.py",
    "engine/saved/soundness.py",
    "engine/traces/objects.py",
    "engine/traces/table.py",
    "pages/parts/audit/calibrate.py",
    "pages/parts/capacity/map.py",
    "pages/parts/capacity/rates.py",
    "pages/parts/frame.py",
    "pages/parts/keep_row.py",
    "pages/parts/saved/compare.py",
    "pages/parts/saved/list.py",
    "pages/parts/sidebar/clock.py",
}


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
    assert {name for name, names in empty.items() if names} <= REMAINING


def decorated(node):
    """The decorator of a compiled function, or None."""
    names = {d.id for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Name)}
    return next(iter(names & {"kernel", "part"}), None)


def names_in_python(path):
    """The names that a file's code outside compiled functions reads."""
    found, todo = set(), [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if decorated(node):
            continue
        if isinstance(node, ast.Name):
            found.add(node.id)
        # The plain function behind a compiled one is Python.
        if not (isinstance(node, ast.Attribute) and node.attr == "py_func"):
            todo += ast.iter_child_nodes(node)
    return found


def test_what_only_kernels_call_is_a_part():
    """Compiling an entry from Python that nobody uses would make the first start slow."""
    callers = [*SOURCES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")]
    read = {path: names_in_python(path) for path in callers}
    imported = {path: imports_of(path) for path in callers}
    wrong = []
    for path in SOURCES:
        module = relative(path).removesuffix(".py").replace("/", ".")
        for node in ast.parse(path.read_text()).body:
            if not decorated(node):
                continue
            called = any(
                node.name in read[caller]
                and (caller == path or f"{module}.{node.name}" in imported[caller])
                for caller in callers
            )
            if decorated(node) != ("kernel" if called else "part"):
                wrong.append(f"{module}.{node.name}")
    assert not wrong


def test_importing_the_engine_is_cheap():
    """Solvers and plotly are imported only by what uses them."""
    code = (
        "import sys, engine; "
        "slow = ('pulp', 'highspy', 'scipy.optimize', 'plotly', 'sqlalchemy', 'streamlit'); "
        "print([m for m in slow if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("path", [ROOT / "app.py", *ROOT.glob("pages/*.py")], ids=relative)
def test_pages_are_layout(path):
    """A page is short and does no arithmetic of its own."""
    tree = ast.parse(path.read_text())
    assert len(path.read_text().splitlines()) <= 90
    assert not any(isinstance(node, ast.BinOp) for node in ast.walk(tree))
    assert not imports(path, "numpy", "pandas")


MARKDOWN = {  # what of streamlit takes Markdown, as its first argument or as `label` or `help`
    "button", "caption", "checkbox", "download_button", "error", "expander", "file_uploader",
    "header", "info", "markdown", "metric", "multiselect", "number_input", "page_link", "popover",
    "progress", "segmented_control", "selectbox", "slider", "status", "subheader", "success",
    "text_input", "title", "toast", "toggle", "warning", "write",
}  # fmt: skip
NAMED_BY_OTHERS = re.compile(
    r"(file|upload|bench|kept|last|preset|renamed|job)\.(snapshot\.)?"
    r"(name|title|trace|page|server|fit)|\w+\.classes"
)


def bare(node, problems):
    """What of an expression is somebody else's text and does not go through `literal`."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("literal", "sentence"):
        return []
    if isinstance(node, ast.Name | ast.Attribute):
        written = ast.unparse(node)
        if written in problems or NAMED_BY_OTHERS.fullmatch(written):
            return [written]
    return [found for child in ast.iter_child_nodes(node) for found in bare(child, problems)]


@pytest.mark.parametrize("path", [ROOT / "app.py", *ROOT.glob("pages/**/*.py")], ids=relative)
def test_names_and_errors_are_no_markup(path):
    """Neither stands in Markdown as it came (pages/parts/literal.py)."""
    tree = ast.parse(path.read_text())
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    problems = {handler.name for handler in handlers if handler.name}
    wrong = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in MARKDOWN:
            shown = [word.value for word in call.keywords if word.arg in ("label", "help")]
            for part in [*call.args[:1], *shown]:
                wrong += [f"line {call.lineno}: {found}" for found in bare(part, problems)]
            assert "unsafe_allow_html" not in {word.arg for word in call.keywords}
    assert not wrong


PAGES = [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py"))]
PARTS = ROOT / "pages" / "parts"
SHARED = {"sidebar"}  # folders of parts that are no page's own
ROOMS = sorted(
    folder for folder in PARTS.iterdir() if folder.is_dir() and (folder / "__init__.py").is_file()
)


@pytest.mark.parametrize(
    "folder", [room for room in ROOMS if room.name not in SHARED], ids=lambda path: path.name
)
def test_a_page_has_its_folder_for_itself(folder):
    """One page imports from it, and no other file outside."""
    package = module_of(folder / "__init__.py")
    importing = {path for path in SOURCES if folder not in path.parents and imports(path, package)}
    assert len(importing) == 1
    assert importing <= set(PAGES)


def test_nothing_lists_the_pages():
    """A page declares itself; a list would have to be kept."""
    names = {path.name for path in PAGES} | {f"pages/{path.name}" for path in PAGES}
    for path in PARTS.rglob("*.py"):
        told = {node.value for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
        assert len(told & names) < len(PAGES) / 2, relative(path)


def test_top_level_is_what_was_agreed():
    """Nothing joins the top level unnoticed."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    top = {name.split("/")[0] for name in tracked}
    assert top <= {
        "app.py", "pages", "engine", "sample_data", "tests", "benchmarks", "requirements.txt",
        ".streamlit", "README.md", "docs", "pyproject.toml", ".ci", ".gitignore",
        "CHANGELOG.md", "CONTRIBUTING.md",
    }  # fmt: skip
