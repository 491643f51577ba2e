"""The house rules that the folder tree promises (DESIGN 10)."""

import ast
import re
import subprocess
import sys
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
    ("errors", "fields", "wording"),
    ("compilations", "compiled", "sample_data", "user_data", "version"),
    ("machine", "admission_limits", "workload"),
    ("simulate", "progress"),
    ("batches", "fluid", "memory_curve"),
    ("bound", "bound_method", "bounds", "proof", "improve", "policy", "policies"),
    ("demand", "traces"),
    ("fleet", "measure"),
    ("calibrate", "evidence", "audit", "scale_out"),
    ("capacity",),
    ("sweeps", "uncertainty", "learn", "saved"),
    ("figures",),
    ("reports",),
    ("cli",),
)
LAYER_OF = {name: layer for layer, names in enumerate(LAYERS) for name in names}


def layer(path):
    return LAYER_OF.get(path.relative_to(ROOT / "engine").with_suffix("").parts[0])


@pytest.mark.parametrize(
    "path", [path for path in sorted(ROOT.glob("engine/**/*.py")) if layer(path)], ids=relative
)
def test_the_engine_is_in_layers(path):
    """Nothing in the engine imports from a layer above its own."""
    parts = [name.split(".") for name in imports_of(path) if name.startswith("engine.")]
    above = {name for _, name, *_ in parts if LAYER_OF.get(name, 0) > layer(path)}
    assert not above


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
        "print([m for m in ('pulp', 'highspy', 'scipy.optimize', 'plotly', 'streamlit') "
        "if m in sys.modules])"
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


def test_top_level_is_what_was_agreed():
    """Nothing joins the top level unnoticed."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    top = {name.split("/")[0] for name in tracked}
    assert top <= {
        "app.py", "pages", "engine", "sample_data", "tests", "benchmarks", "requirements.txt",
        ".streamlit", "README.md", "docs", "pyproject.toml", ".ci", ".gitignore",
    }  # fmt: skip
