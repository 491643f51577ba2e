"""Controls that are folded away show what the server has, whenever they are first opened.

A body that the browser mounts only when it is opened gets no value that a run before it set.
So on every page another control is changed first, then every popover and expander is opened for
the first time, and each control in it must show its setting; one click changes only that.
"""

import re

import pytest

from pages.parts.declared import declared_pages
from tests.services import browser

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)
PATHS = [page.path for page in declared_pages()]


def address_of(server, path):
    return f"{server}/{re.sub(r'^(pages/)?([0-9]+_)?|[.]py$', '', path).removesuffix('app')}"


def marked(page):
    """The labels of the pills that are shown as chosen."""
    pills = page.get_by_test_id("stPopoverBody").locator('button[aria-pressed="true"]')
    return pills.all_inner_texts()


def change_memory(page, value):
    field = page.get_by_label("KV-cache memory M (tokens)", exact=True)
    field.fill(str(value))
    field.press("Enter")
    browser.settled(page)


def compared(page):
    """What the caption beneath the button says is compared."""
    said = page.get_by_text(re.compile("^Comparing ")).first.inner_text()
    return said.removeprefix("Comparing ").split(", ")


@pytest.mark.parametrize("width", [1440, 390])
def test_policies_stay_when_one_is_added(server, visitor, width):
    """After any other change the pills are marked as compared, and a click adds one."""
    visitor.set_viewport_size({"width": width, "height": 900})
    visitor.goto(f"{server}/?n=40")
    browser.settled(visitor)
    if width < 700:
        visitor.get_by_test_id("stExpandSidebarButton").click()
    change_memory(visitor, 21_000)
    before = compared(visitor)
    visitor.get_by_test_id("stPopoverButton").filter(has_text="Policies").click()
    added = visitor.get_by_test_id("stPopoverBody").get_by_role(
        "button", name="sarathi", exact=True
    )
    added.wait_for()
    assert sorted(marked(visitor)) == sorted(before)
    added.click()
    browser.settled(visitor)
    assert sorted(compared(visitor)) == sorted([*before, "sarathi"])
    assert "sarathi" in visitor.url
    assert "classic=&" not in visitor.url


@pytest.mark.parametrize("path", PATHS)
def test_folded_controls_show_their_settings(server, visitor, path):
    """Each expander's number fields and choices, first opened after another change.

    The settings of a link are not the defaults, so a control that forgot its value would show
    another one.
    """
    link = "n=60&seed=3&second=code&patience=5000&queue_limit=900&svf.skip=4&vllm.watermark=0.07"
    visitor.goto(f"{address_of(server, path)}?{link}&arrivals=poisson&classic=fcfs&deployed=vllm")
    browser.settled(visitor)
    change_memory(visitor, 21_000)
    expected = {
        "More": {"Seed": "3"},
        "Policy parameters": {"svf: skip": "4", "vllm: watermark": "0.07"},
        "Servers and clients": {"Queue limit (requests; 0: none)": "900"},
    }
    for name, fields in expected.items():
        fold = visitor.get_by_test_id("stExpander").filter(has_text=name).first
        fold.locator("summary").click()
        for label, value in fields.items():
            shown = fold.get_by_label(label, exact=True).input_value()
            assert float(shown) == float(value), (name, label)
    fold = visitor.get_by_test_id("stExpander").filter(has_text="More").first
    fold.get_by_label("Seed", exact=True).fill("5")
    fold.get_by_label("Seed", exact=True).press("Enter")
    browser.settled(visitor)
    for setting in ("seed=5", "queue_limit=900", "svf.skip=4", "second=code", "memory=21000"):
        assert setting in visitor.url
