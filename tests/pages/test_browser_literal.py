"""In a real browser: what a link, a file or a name says is shown as it stands, nothing of it lives.

Hostile texts go in wherever a visitor or a sender of links can put text.
"""

import json
import re
from urllib.parse import quote, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.parts.declared import declared_pages
from pages.parts.literal import JOINER, shortened
from tests.services import browser

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)

FOREIGN = "evil.test"
PICTURE = f"![p](http://{FOREIGN}/p.png)"
LOGIN = f"[log in again](http://{FOREIGN}/)"
PARTS = [
    f"`{PICTURE}{LOGIN}",
    f"``{PICTURE}",
    f"{LOGIN} www.{FOREIGN} http://{FOREIGN}/a me@{FOREIGN}",
    "<img src=x onerror=boom()>",
    f"<a href='http://{FOREIGN}'>x</a> &lt;b&gt; &#96;",
    "$x^2$ $$y$$ :material/home: :material_home: :red[x] :smile: :100: :streamlit:",
    "**b** *i* _i_ __u__ ~~s~~ ~s~ [^1] a_b -> -- <- >= ~= | :x{y=z} \\",
]
HOSTILE = " ".join(PARTS)
ALIVE = """foreign => {
    const inside = name => [...document.querySelectorAll(name)];
    const address = node => node.href?.baseVal ?? node.href ?? node.src ?? '';
    const leads = node => {  // elsewhere; our own links may have any text in their query
        const to = new URL(String(address(node)) || '/', document.baseURI);
        return (to.protocol === 'mailto:' ? to.pathname : to.host).includes(foreign);
    };
    const bad = inside('a, img, image, iframe, script').filter(node =>
        leads(node) || node.getAttribute('onerror')
        || node.getAttribute('alt') === 'Streamlit logo');
    return [...bad.map(node => node.outerHTML), ...(window.boomed ? ['a script ran'] : [])];
}"""


def paths():
    """The address of every page, without the server."""
    return [re.sub(r"^(app|pages/\d_)|\.py$", "", page.path) for page in declared_pages()]


@pytest.fixture
def wary(visitor):
    """A visitor who notes scripts that run and foreign addresses that are asked for."""
    visitor.add_init_script("window.boom = () => { window.boomed = true }")
    visitor.asked = []
    visitor.on("request", lambda request: visitor.asked.append(request.url))
    return visitor


def plainly(text):
    """As a reader sees it: one space between words, word joiners unseen."""
    return " ".join(text.replace(JOINER, "").split())


def seen(page):
    return plainly(page.locator("body").inner_text())


def assert_dead(page):
    """Nothing of the hostile text lives, in words, labels or charts."""
    assert page.evaluate(ALIVE, FOREIGN) == []
    assert not [url for url in page.asked if FOREIGN in (urlsplit(url).hostname or "")]
    assert page.locator(".katex").count() == 0
    icons = page.locator('[data-testid="stMarkdownContainer"] [role="img"]').all_inner_texts()
    assert "home" not in icons


def opened(page, server, path, **query):
    page.goto(f"{server}/{path}?{urlencode(query, doseq=True, quote_via=quote)}")
    browser.settled(page)


@pytest.mark.parametrize("path", paths())
def test_values_of_a_link(server, wary, path):
    """On every page, for parameters that have another meaning and for those that have none."""
    wanted = [*PARTS, "1. x", "- x", "# x", "> x"]
    names = ["memory", "from", "clock", "seed", "n", "provable", "log", "share", "unknown"]
    query = {name: wanted[place % len(wanted)] for place, name in enumerate(names)}
    opened(wary, server, path, **query, **{PARTS[0]: "x"}, arrivals="poisson")
    wary.get_by_text("Of this link, some").wait_for()
    told = seen(wary)
    for name, value in query.items():
        assert plainly(f"{name}={value}")[:60] in told, name
    assert plainly(PARTS[0]) in told
    assert_dead(wary)


@settings(max_examples=8)
@given(
    st.lists(
        st.lists(
            st.sampled_from([*"*_`~$:[]()<>#!|&\\-+=.@/{}^'\"0 1ab ", "//", "www.", "https:", "\n"])
            | st.sampled_from([":smile:", ":material/", ":red[", "![", "](", "&amp;", "é", "漢"])
            | st.characters(blacklist_categories=["Cs"]),
            min_size=1,
            max_size=14,
        ).map("".join),
        min_size=10,
        max_size=10,
    )
)
def any_texts(check, texts):
    check(texts)


def test_any_text_is_shown_as_it_stands(server, chromium):
    """The frontend's own renderer is the judge."""
    context = chromium.new_context()
    page = context.new_page()

    def check(texts):
        opened(page, server, "About", **{f"x{place}": text for place, text in enumerate(texts)})
        message = page.locator('[data-testid="stAlert"]').first
        message.wait_for()
        told = plainly(message.inner_text())
        for place, text in enumerate(texts):
            assert f"“{plainly(shortened(f'x{place}={text}', 80))}”" in told, text

    any_texts(check)
    context.close()


def dropped(page, server, path, name, content, **query):
    """The page with a trace dropped into the sidebar."""
    opened(page, server, path, **{"from": "upload", "memory": 100, **query})
    file = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.locator('input[type="file"]').first.set_input_files(file)
    page.get_by_text("Drop a trace into the sidebar").wait_for(state="hidden")
    browser.settled(page)


NAME = f"`{LOGIN}{PICTURE} $x$ :red[x] :material_home: www.{FOREIGN} <b onclick=1> %{{y}}"


SHORT = f"`{LOGIN} $x$ :red[x] :material_home:"


@pytest.mark.parametrize("path", ["", "Memory_Gantt", "Latency", "Capacity", "Trace_Audit"])
def test_names_of_a_file_and_its_classes(server, wary, path):
    """In the title, in labels to choose from, in charts and what they tell of a point."""
    first, second = f"{NAME} <i>one</i>", f"<a href='http://{FOREIGN}/two'>two</a> $x$"
    rows = "".join(f'{n},5,5,"{first}"\n{n},9,1,"{second}"\n' for n in range(60))
    file = NAME.replace("/", ":") + ".csv"
    few = {"end": 9} if path == "Memory_Gantt" else {}  # bars that a mouse can hit
    dropped(wary, server, path, file, f"arrival,prompt,output,class\n{rows}", **few)
    assert plainly(f"{file}: 120 requests") in seen(wary)
    if path == "Latency":
        button = wary.get_by_role("radio", name="<i>one</i>")
        assert plainly(first) in plainly(button.inner_text())
        button.click()
        browser.settled(wary)
        assert plainly(f"of {first} requests") in seen(wary)
    if path == "Capacity":
        wary.get_by_text("Limits for one class").click()
        wary.wait_for_timeout(500)
        assert plainly(f"{second}: TTFT") in seen(wary)
    if path == "Memory_Gantt":
        legend = [plainly(text) for text in wary.locator(".legendtext").all_text_contents()]
        assert plainly(f"{second} requests") in legend
        wary.set_viewport_size({"width": 1440, "height": 1400})  # the whole chart in sight
        browser.settled(wary)
        chart = wary.locator(".js-plotly-plot").last  # the first is of arrivals, in the sidebar
        box = chart.locator(".bars .point path").first.bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        wary.mouse.move(middle[0] - 40, middle[1])
        wary.mouse.move(*middle, steps=20)
        hover = chart.locator(".hoverlayer .hovertext")
        hover.first.wait_for()
        told = plainly(" ".join(hover.all_text_contents()))
        assert plainly(f"({first})") in told
    assert_dead(wary)


def test_names_of_columns(server, wary):
    """Of a file that no reader knows, and a bad value in the error."""
    dropped(wary, server, "", f"{LOGIN}.csv".replace("/", ":"), f"{NAME},b\n1,2\n3,4\n")
    assert plainly(f"{LOGIN}.csv".replace("/", ":")) in seen(wary)
    assert_dead(wary)
    dropped(wary, server, "", "x.csv", f"arrival,prompt,output\n0,{NAME},1\n")
    assert plainly(NAME)[:60] in plainly(wary.locator('[data-testid="stAlert"]').inner_text())
    assert_dead(wary)


def test_names_of_presets(server, wary):
    """A clock of one's own, calibrated, saved, and set beside an M that is not its own."""
    from engine.machine.clock import seconds_clock
    from engine.machine.own_presets import delete, save
    from engine.machine.preset import Preset

    title = SHORT[:50]
    key = save(Preset("", title, "", "", 1, seconds_clock(0.05), 1.5, f"from {NAME}")).key
    try:
        opened(wary, server, "Capacity", clock=key, arrivals="poisson", n=60, rate_s=1)
        assert plainly(title) in seen(wary)
        wary.get_by_text("Round times").click()
        wary.wait_for_timeout(500)
        assert plainly(f"Fit: from {NAME}") in seen(wary)
        assert_dead(wary)
    finally:
        delete(key)
    opened(wary, server, "", clock=f"own-{NAME}")
    assert_dead(wary)


def test_names_of_saved_views(server, wary):
    """Saved, then listed, compared, and asked about; and a file of somebody else's."""
    opened(wary, server, "Saved", n=60)
    with wary.expect_download() as waiting:
        wary.get_by_role("button", name="Save or export").click()
        wary.get_by_role("button", name="This view (JSON)").click()
    record = json.loads(waiting.value.path().read_text())
    policy = {**record["results"][0], "policy": SHORT}
    record |= {"name": SHORT, "title": SHORT, "trace": SHORT, "page": SHORT, "results": [policy]}
    for memory in (1, 2):
        record["facts"] = {"M (tokens)": memory, SHORT: memory}
        file = {"name": f"{memory}.json", "mimeType": "application/json"}
        file["buffer"] = json.dumps(record).encode()
        wary.get_by_test_id("stFileUploader").last.locator("input").set_input_files(file)
        browser.settled(wary)
    wary.get_by_text("2 views are saved; the latest is").wait_for()
    browser.settled(wary)
    assert plainly(f"the latest is {SHORT}") in seen(wary)
    assert plainly(f"Open on {SHORT}") in seen(wary)
    assert plainly(f"{SHORT} 1 → 2") in seen(wary)
    assert plainly(f"from the file {SHORT}, which") in seen(wary)
    assert_dead(wary)
    bad = {"name": f"{LOGIN}.json".replace("/", ":"), "mimeType": "application/json"}
    bad["buffer"] = b"{"
    wary.get_by_test_id("stFileUploader").last.locator("input").set_input_files(bad)
    browser.settled(wary)
    assert_dead(wary)
