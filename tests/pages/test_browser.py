"""The main paths in a real browser, on a fresh server."""

import re

import pytest

from tests.services import browser

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine; tests/run.sh installs it"
)


def headline(page):
    return page.locator("h1").first.inner_text()


def curves(page):
    """The drawn shapes of the first chart."""
    page.locator(".js-plotly-plot path.js-line").first.wait_for(state="attached")
    paths = page.locator(".js-plotly-plot").first.locator("path.js-line")
    return [path.get_attribute("d") for path in paths.all()]


def set_number(page, label, value):
    field = page.get_by_label(label, exact=True)
    field.fill(str(value))
    field.press("Enter")
    browser.settled(page)


def test_deep_link_on_a_fresh_server(visitor):
    """The first visitor of a server may come by a link to another page."""
    with browser.fresh_server() as address:
        visitor.goto(f"{address}/Memory_Gantt?from=six-identical&shown=vllm&request=4")
        browser.settled(visitor)
        assert "vllm fills 80.0" in headline(visitor)
        assert visitor.get_by_text("came back at round 5").count() == 1
        assert visitor.get_by_text("M = 10 tokens").count() >= 1


def test_moving_memory_changes_chart_and_link(server, visitor):
    """More memory: other curves, another headline, and the new value in the address."""
    visitor.goto(server)
    browser.settled(visitor)
    before, said = curves(visitor), headline(visitor)
    set_number(visitor, "KV-cache memory M (tokens)", 60000)
    assert curves(visitor) != before
    assert headline(visitor) != said
    assert "memory=60000" in visitor.url


def test_pages_and_history_keep_the_view(server, visitor):
    """A link's settings survive a walk over all pages, and back."""
    visitor.goto(f"{server}/?from=six-identical&memory=12")
    browser.settled(visitor)
    for name in ("Memory Gantt", "Latency", "Gap to bound", "Learn", "About", "Compare"):
        visitor.get_by_role("link", name=name).click()
        browser.settled(visitor)
        assert "from=six-identical&memory=12" in visitor.url, name
        assert visitor.get_by_text("Six identical requests, M = 12").count() == 1, name
    browser.go_back(visitor)
    assert "/About" in visitor.url
    assert visitor.get_by_text("Six identical requests, M = 12").count() == 1


def test_back_takes_a_change_back(server, visitor):
    """The address before a change gives the view before it."""
    visitor.goto(server)
    browser.settled(visitor)
    said = headline(visitor)
    set_number(visitor, "Requests", 500)
    assert headline(visitor) != said
    browser.go_back(visitor)
    assert headline(visitor) == said


def test_clicked_bar_tells_its_story(server, visitor):
    """A click on a bar pins that request, in the link too."""
    visitor.set_viewport_size({"width": 1440, "height": 1400})  # the whole chart in sight
    visitor.goto(f"{server}/Memory_Gantt?from=six-identical&shown=vllm")
    browser.settled(visitor)
    bar = visitor.locator(".js-plotly-plot .bars .point path").last
    box = bar.bounding_box()
    visitor.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    browser.settled(visitor)
    assert re.search(r"request=\d", visitor.url)
    assert visitor.get_by_text("Finished at round").count() == 1


def test_upload_and_download(server, visitor, tmp_path):
    """A trace goes in, the table of its requests comes out."""
    trace = tmp_path / "mine.csv"
    trace.write_text("arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n")
    visitor.goto(f"{server}/?from=upload&memory=10")
    browser.settled(visitor)
    visitor.locator('input[type="file"]').set_input_files(trace)
    browser.settled(visitor)
    assert visitor.get_by_text("mine.csv: 3 requests").count() == 1
    with visitor.expect_download() as waiting:
        visitor.get_by_role("button", name="Requests of").click()
    lines = waiting.value.path().read_text().splitlines()
    assert lines[0].startswith("index,class,arrival,prompt,output,start")
    assert len(lines) == 4


def test_two_visitors_do_not_meet(server, chromium):
    """What one sets does not show at the other."""
    contexts = [chromium.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for page, memory in zip(pages, (20000, 90000), strict=True):
        page.goto(f"{server}/?memory={memory}")
    for page, memory in zip(pages, ("20 000", "90 000"), strict=True):
        browser.settled(page)
        assert page.get_by_text(f"M = {memory}".replace(" ", "\u202f")).count() == 1
    for context in contexts:
        context.close()


def test_a_link_shows_the_same(server, visitor):
    """A shared link shows a friend the same answer, headline and curves."""
    visitor.goto(f"{server}/?from=rag&ours=best-found&memory=40000")
    browser.settled(visitor)
    said, drawn = headline(visitor), curves(visitor)
    visitor.goto(visitor.url)
    browser.settled(visitor)
    assert headline(visitor) == said
    assert curves(visitor) == drawn


def test_latency_and_gap_answer(server, visitor):
    """Both open with a sentence that names a number, and draw."""
    for name, told in (("Latency", r"\d"), ("Gap_to_Bound", r"%|x")):
        visitor.goto(f"{server}/{name}?from=eighty-twenty-200")
        browser.settled(visitor)
        assert re.search(told, headline(visitor))
        visitor.locator(".js-plotly-plot .main-svg .trace").first.wait_for(state="attached")


def test_a_first_visit_leads_on(server, visitor):
    """A newcomer is told what this is and where to go; who changed something is not."""
    visitor.goto(server)
    browser.settled(visitor)
    assert visitor.get_by_text("New here?").count() == 1
    set_number(visitor, "Requests", 300)
    assert visitor.get_by_text("New here?").count() == 0
    browser.go_back(visitor)
    visitor.get_by_role("link", name="Why order matters").click()
    browser.settled(visitor)
    assert "Learn?lesson=head-of-line" in visitor.url
    assert "Memory is free" in headline(visitor)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
@pytest.mark.parametrize("path", ["", "Memory_Gantt", "Latency", "Gap_to_Bound", "Learn", "About"])
def test_nothing_is_cut_off(server, chromium, size, path):
    """No page is wider than its window, and none shows an exception."""
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(f"{server}/{path}")
    browser.settled(page)
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    assert page.locator('[data-testid="stException"]').count() == 0
    assert page.locator('[data-testid="stAlertContentError"]').count() == 0
    context.close()
