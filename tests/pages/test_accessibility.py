"""axe-core finds nothing serious on any page, light or dark, folded or not."""

import pytest

from pages.parts.declared import declared_pages
from tests.services import browser

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)

SEVERE = ("serious", "critical")
# Rules about what the framework draws by itself and offers no setting for.
FRAMEWORK = {}
ADDRESSES = [
    "" if path == "app.py" else path.removeprefix("pages/")[2:].removesuffix(".py")
    for path in [page.path for page in declared_pages()]
]
STATES = [
    "?from=upload",
    "?memory=3",
    "?arrivals=poisson&rate=0.2",
    "Learn?lesson=head-of-line&step=2",
    "Learn?lesson=prices&step=3",
    "Learn?lesson=adversary&step=2",
    "Learn?part=game&puzzle=2&order=5.3",
    "Memory_Gantt?from=six-identical&shown=vllm&request=4&stepping=true&at=3",
]


def severe(page):
    """What axe-core calls serious or critical, one line a finding; in the dark only colours."""
    from axe_playwright_python.sync_playwright import Axe

    page.add_style_tag(content="* { transition: none !important; animation: none !important }")
    page.emulate_media(color_scheme="light")
    found = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(600)
    colours = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    found += Axe().run(page, options=colours).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in found
        if rule["impact"] in SEVERE and rule["id"] not in FRAMEWORK
        for node in rule["nodes"]
    ]


@pytest.fixture(scope="module")
def reader(chromium):
    """A page that keeps to the system's choice of light or dark."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("address", ADDRESSES + STATES)
def test_nothing_severe(server, reader, address):
    """Names, roles, contrast, landmarks: all that can be checked by a machine."""
    reader.goto(f"{server}/{address}")
    browser.settled(reader)
    found = severe(reader)
    if found:  # what runs unasked fades the page for a moment
        reader.wait_for_timeout(5000)
        browser.settled(reader)
        found = severe(reader)
    assert found == []


def test_the_dark_is_dark(server, reader):
    """Otherwise the colours of the dark would not be looked at."""
    reader.goto(f"{server}/About")
    browser.settled(reader)
    shades = []
    for scheme in ("light", "dark"):
        reader.emulate_media(color_scheme=scheme)
        reader.wait_for_timeout(200)
        shades.append(
            reader.locator("body, .stApp").last.evaluate("e => getComputedStyle(e).backgroundColor")
        )
    assert shades[0] == "rgb(255, 255, 255)"
    assert sum(int(part) for part in shades[1][4:-1].split(",")) < 150


def test_nothing_severe_unfolded(server, reader):
    """The same with every part of the sidebar open, and after an answer in a lesson."""
    reader.goto(f"{server}/Learn?lesson=thrash&step=1&arrivals=gamma")
    browser.settled(reader)
    reader.get_by_text("7 times", exact=True).click()
    browser.settled(reader)
    for summary in reader.locator('[data-testid="stSidebar"] summary').all():
        summary.click()
    reader.mouse.move(900, 5)
    reader.wait_for_timeout(500)
    assert severe(reader) == []
    reader.get_by_role("button", name="M from a GPU's memory", exact=True).click()
    reader.wait_for_timeout(500)
    assert severe(reader) == []


def test_every_chart_says_what_it_shows(server, reader):
    """Each has an alternative text, and a title with what is counted on its axis."""
    for address in ("", "Gap_to_Bound", "Learn?lesson=adversary&step=3"):
        reader.goto(f"{server}/{address}")
        browser.settled(reader)
        reader.locator('[data-testid="stPlotlyChart"] .xtitle').first.wait_for()
        for chart in reader.locator('[data-testid="stPlotlyChart"]').all():
            assert len(chart.get_attribute("aria-label") or "") > 30, address
            assert chart.locator(".xtitle, .x2title").count() >= 1
