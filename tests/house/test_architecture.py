"""The house rules that the folder tree promises (CONTRIBUTING.md)."""

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.house.sources import ROOT, SOURCES, imports, imports_of, module_of, relative

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


SLOW = {"numba", "pandas", "pyarrow", "scipy", "sqlalchemy", "plotly", "streamlit", "dask"}
NEEDED = {  # of those, what a command needs, and that others of them bring along
    "--help": set(),
    "policies": set(),
    "hardware": {"sqlalchemy"},
    "generate --n 5 -o ten.csv": {"scipy", "pyarrow"},
    "simulate --help": {"pyarrow"},
}


@pytest.mark.parametrize("command", NEEDED)
def test_a_command_imports_what_it_needs(command, tmp_path):
    """No other command's file, and no library that it does not use."""
    code = (
        "import sys; from contextlib import suppress\n"
        "from engine.cli import COMMANDS, main\n"
        f"with suppress(SystemExit): main({command.split()})\n"
        f"slow = {{module.split('.')[0] for module in sys.modules}} & {SLOW}\n"
        "files = [file for file in COMMANDS.values() if f'engine.cli.{file}' in sys.modules]\n"
        "print(repr((slow, files)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    slow, files = ast.literal_eval(said.stdout.splitlines()[-1].replace("set()", "()"))
    assert set(slow) <= NEEDED[command]
    assert set(files) <= {command.split()[0]}


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
        "CHANGELOG.md", "CONTRIBUTING.md", "deploy",
    }  # fmt: skip
