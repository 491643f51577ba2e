"""The documents speak of what there is: sections that are cited, tests and files that are named."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NUMBER = re.compile(r"^(\d+(?:\.\d+)*) ")
CITATION = re.compile(r"(docs/\w+\.md|[A-Z]+\.md)((?:(?:,| and| to)? \d+(?:\.\d+)*)*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")


def text_of(path):
    return path.read_text(encoding="utf-8")


def headings(document):
    outside_code = re.sub(r"^```.*?^```", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
    return HEADING.findall(outside_code)


def sections(document):
    """The numbers of its numbered headings."""
    return {match[1] for heading in headings(document) if (match := NUMBER.match(heading))}


def anchors(document):
    """What a link may name after #, as GitHub makes it from a heading."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(document)
    }


def sources():
    listing = subprocess.run(
        ["git", "ls-files", "*.py", "*.toml", "*.md", "*.sh"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def test_every_section_that_is_cited_exists():
    """`docs/model.md 3.2` in code, tests and documents."""
    missing, cited = [], 0
    for source in sources():
        for document, numbers in CITATION.findall(text_of(source)):
            file = ROOT / document
            known = sections(file) if file.is_file() else set()
            for number in re.findall(r"\d+(?:\.\d+)*", numbers):
                cited += 1
                if number not in known:
                    missing.append(f"{source.relative_to(ROOT)}: {document} {number}")
            if not file.is_file():
                missing.append(f"{source.relative_to(ROOT)}: {document}")
    assert not missing
    assert cited > 20


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    """To files of the project and headings in them."""
    for target in LINK.findall(text_of(document)):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize(("document", "least"), [("invariants", 30), ("threat_model", 25)])
def test_named_tests_exist(document, least):
    """Each invariant, and each claim of the threat model, is held by a test that there is."""
    named = NAMED_TEST.findall(text_of(ROOT / "docs" / f"{document}.md"))
    assert len(named) > least
    for file, test in named:
        tree = ast.parse(text_of(ROOT / file))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_every_protection_names_a_test():
    """What the threat model says is protected; what it says is not needs none."""
    protected = text_of(ROOT / "docs" / "threat_model.md").partition("## What is not protected")[0]
    rows = [line for line in protected.splitlines() if line.startswith("| ")]
    claims = [row for row in rows if "| held by |" not in row and row.count("|") == 4]
    assert len(claims) > 15
    for row in claims:
        assert NAMED_TEST.search(row), row


def test_every_invariant_names_a_test():
    rows = [
        line for line in text_of(ROOT / "docs" / "invariants.md").splitlines()
        if line.startswith("| ") and not line.startswith("| invariant")
    ]  # fmt: skip
    assert rows
    for row in rows:
        assert NAMED_TEST.search(row), row


def test_the_glossary_is_in_order():
    words = re.findall(r"^\*\*(.+?)\.\*\*", text_of(ROOT / "docs" / "glossary.md"), re.MULTILINE)
    assert words == sorted(words, key=str.lower)
