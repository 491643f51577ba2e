"""Controls that are folded away show what the server has, whenever they are first looked at."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.parts.declared import declared_pages
from tests.services import browser
from tests.services.opened_page import open_page

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)

FOLDS = '[data-testid="stExpander"] summary, [data-testid="stPopoverButton"]'
# Many controls, and many of them not at their defaults.
SETTINGS = (
    "n=60&arrivals=gamma&rate_s=2&first=code&seed=3&clock=llama-2-70b-a100-tp4&c1=200"
    "&predict=bucket&edge=upper&max_model_len=20000&vllm.watermark=0.02&classic=mc-sf&provable="
    "&slo_ttft=2&window=200&from_memory=9000"
)
KINDS = ("stNumberInput", "stTextInput", "stSelectbox", "stCheckbox", "stButtonGroup")
CONTROLS = ", ".join(f'[data-testid="{kind}"]' for kind in KINDS)
READ = """(fold, controls) => [...fold.querySelectorAll(controls)].map(control => {
    if (control.dataset.testid === 'stButtonGroup')
        return [...control.querySelectorAll('[aria-pressed="true"], [aria-checked="true"]')]
            .map(button => button.textContent.trim())
    const input = control.querySelector('input')
    return control.dataset.testid === 'stCheckbox' ? input.checked : input.value
})"""


def held(control):
    """What the server has for a control, as it should be seen."""
    if control.type == "button_group":
        return list(control.formatted_values)
    if control.type == "selectbox":
        return control.options[control.index]
    return "" if control.value is None else control.value


def folds_held(block):
    """The controls of each expander and popover that has some, in the order of the page."""
    found = {}
    for part in block.children.values():
        if part.type in ("expander", "popover"):
            label = part.label if part.type == "expander" else part.proto.popover.label
            kinds = ("number_input", "text_input", "selectbox", "checkbox", "toggle")
            controls = [one for one in part if one.type in (*kinds, "button_group")]
            if controls:
                found[label] = [held(one) for one in controls]
        elif hasattr(part, "children"):
            found |= folds_held(part)
    return found


def folds_shown(page, expected):
    """The same as seen by who opens each of them, one after the other.

    What a fold is expected to hold may be drawn a while after it opens.
    """
    found = {}
    for fold in page.locator(FOLDS).all():
        is_popover = fold.get_attribute("data-testid") == "stPopoverButton"
        label = fold.locator("p").first.inner_text()
        fold.evaluate("fold => fold.click()")
        body = page.locator('[data-testid="stPopoverBody"]') if is_popover else fold.locator("..")
        if label in expected:
            body.locator(CONTROLS).nth(len(expected[label]) - 1).wait_for(state="attached")
        controls = body.evaluate(READ, CONTROLS)
        if is_popover:
            page.keyboard.press("Escape")
        if controls:
            found[label] = controls
    return found


def is_same(shown, held):
    """Whether a control shows what is held; a number may be shown rounded."""
    if isinstance(held, str | list | bool) or shown == "":
        return shown == held
    return float(shown) == pytest.approx(held, rel=1e-3)


def settings_of(page):
    return parse_qsl(urlsplit(page.url).query, keep_blank_values=True)


def change_memory(page, memory):
    field = page.get_by_label("KV-cache memory M (tokens)", exact=True)
    field.fill(str(memory))
    field.press("Enter")
    page.wait_for_function(f"location.search.includes('memory={memory}')", timeout=90_000)
    browser.settled(page)


@pytest.fixture(scope="module")
def walker(chromium):
    """One who goes from page to page; each is entered by a link, as by somebody new."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", [page.path for page in declared_pages()])
def test_folded_controls_show_what_the_server_has(server, walker, path):
    """First another control is changed, then all folds are opened, then one pill is clicked.

    What a control shows when it is first drawn, the browser reports with the next change: so
    the address after the click tells of all of them that they are as they were.
    """
    address = "" if path == "app.py" else path.removeprefix("pages/")[2:].removesuffix(".py")
    walker.goto(f"{server}/{address}?{SETTINGS}")
    browser.settled(walker)
    change_memory(walker, 21_000)
    before = settings_of(walker)
    assert ("memory", "21000") in before
    query = {name: [text for key, text in before if key == name] for name, _ in before}
    expected = folds_held(open_page(path, **query)._tree)
    shown = folds_shown(walker, expected)
    assert shown.keys() == expected.keys()
    wrong = [
        (label, seen, has)
        for label in expected
        for seen, has in zip(shown[label], expected[label], strict=True)
        if not is_same(seen, has)
    ]
    assert wrong == []
    browser.settled(walker)  # the last fold is there: nothing takes the pill away under the mouse
    walker.get_by_text("sarathi", exact=True).first.click()
    walker.wait_for_function("location.search.includes('deployed=sarathi')", timeout=90_000)
    browser.settled(walker)
    added = [setting for setting in settings_of(walker) if setting not in before]
    assert [setting for setting in before if setting not in settings_of(walker)] == []
    assert added == [("deployed", "vllm"), ("deployed", "sarathi")]


def test_back_changes_what_was_folded_away_again(server, visitor):
    """A policy that Back took out of the comparison does not come in again with the next change."""
    visitor.goto(server)
    browser.settled(visitor)
    visitor.get_by_text("Policies", exact=True).click()
    browser.settled(visitor)
    visitor.get_by_text("sarathi", exact=True).first.click()
    visitor.wait_for_function("location.search.includes('deployed=sarathi')", timeout=90_000)
    browser.settled(visitor)
    assert settings_of(visitor) == [("deployed", "vllm"), ("deployed", "sarathi")]
    visitor.get_by_text("Policies", exact=True).click()
    browser.go_back(visitor)
    change_memory(visitor, 21_000)
    assert settings_of(visitor) == [("memory", "21000")]


def test_what_is_drawn_late_shows_what_the_link_says(server, visitor):
    """Also on a slow line, where a control's program comes only after the next change."""
    held_back = []
    visitor.route("**/NumberInput*.js", lambda route: held_back.append(route))
    visitor.goto(f"{server}/?memory=30000")
    visitor.get_by_text("Logarithmic time").click()
    visitor.wait_for_url("**/?memory=30000&log=true")
    (late,) = held_back
    late.continue_()
    browser.settled(visitor)
    field = visitor.get_by_label("KV-cache memory M (tokens)", exact=True)
    assert field.input_value() == "30000"
    visitor.get_by_text("Logarithmic time").click()
    browser.settled(visitor)
    assert settings_of(visitor) == [("memory", "30000")]
