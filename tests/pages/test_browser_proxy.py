"""In public behind the proxy of deploy/: a real nginx with TLS, two servers, a real browser."""

import base64
import hashlib
import http.client
import re
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import streamlit

from pages.parts.declared import declared_pages
from tests.services import browser, proxy

needs_nginx = pytest.mark.skipif(
    not (proxy.NGINX and proxy.OPENSSL), reason="no nginx on this machine: apt install nginx-light"
)
needs_both = pytest.mark.skipif(
    not (proxy.NGINX and proxy.OPENSSL and browser.CHROMIUM), reason="no nginx or no chromium"
)
TRACE = b"arrival,prompt,output\n" + b"0,100,10\n" * 30


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The proxy, in front of two servers of a public demo."""
    home = tmp_path_factory.mktemp("home")
    environment = {"HEADROOM_MODE": "public", "HEADROOM_HOME": str(home)}
    with proxy.proxied(tmp_path_factory.mktemp("proxy"), environment) as started:
        yield started


@pytest.fixture
def arrive(running, chromium, request):
    """Visitors, each with a browser of their own; what a page complains of is kept."""
    contexts = []

    def new(path=""):
        context = chromium.new_context(
            ignore_https_errors=True, viewport={"width": 1440, "height": 900}
        )
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(f"{running.address}/{path}")
        browser.settled(page)
        return page

    yield new
    for context in contexts:
        browser.photograph(context.pages[0], request.node.name)
        context.close()


def status(address):
    try:
        trusting = ssl._create_unverified_context()
        with urllib.request.urlopen(address, timeout=10, context=trusting) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as refusal:
        return refusal.code, b"", refusal.headers


def go_to(page, name):
    page.get_by_role("link", name=name, exact=True).click()
    browser.settled(page)


def save(page, name):
    page.get_by_role("button", name="Save or export").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Name", exact=True).press("Enter")
    page.get_by_role("button", name="Save this view").click()
    page.get_by_text(f"Saved as “{name}”").wait_for()
    browser.settled(page)
    page.keyboard.press("Escape")


@needs_nginx
def test_nginx_takes_the_file(tmp_path):
    """As it stands, but for the certificate and the ports; it warns of nothing."""
    assert proxy.complaints(proxy.prepared(tmp_path, (8501, 8502), 8080, 8443)) == ""


def test_the_policy_allows_the_one_line_of_the_page():
    """The hash is that of the script in this version of Streamlit's page, and there is no other."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in scripts]
    allowed = re.findall(r"'sha256-([^']+)'", proxy.CONFIGURATION.read_text())
    assert [known.decode() for known in hashes] == allowed


@needs_nginx
@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "//_stcore/metrics",
        "/%5fstcore/metrics",
        "/a/../_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/interact",
    ],
)
def test_what_is_closed(running, path):
    assert status(running.address + path)[0] == 404


@needs_nginx
@pytest.mark.parametrize(
    ("origin", "answer"),
    [("own", 101), (None, 101), ("https://other.example", 403), ("null", 403)],
)
def test_a_web_socket_is_for_pages_of_this_name(running, origin, answer):
    """Who comes from another does not get as far as a process."""
    visit = hashlib.md5(f"origin {origin}".encode()).hexdigest()
    host = running.address.removeprefix("https://")
    headers = {
        "Cookie": f"headroom_visit={visit}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    if origin is not None:
        headers["Origin"] = running.address if origin == "own" else origin
    trusting = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(host, timeout=10, context=trusting)
    connection.request("GET", "/_stcore/stream", headers=headers)
    assert connection.getresponse().status == answer
    connection.close()
    if answer == 403:
        assert visit not in running.processes()


@needs_nginx
def test_headers(running):
    """Every answer has each once, a refusal too; and the port without TLS only leads here."""
    for path in ("/", "/_stcore/metrics", "/_stcore/health", "/static/none.js"):
        headers = status(running.address + path)[2]
        assert headers.get_all("X-Frame-Options") == ["DENY"]
        assert headers.get_all("X-Content-Type-Options") == ["nosniff"]
        assert headers.get_all("Referrer-Policy") == ["no-referrer"]
        (policy,) = headers.get_all("Content-Security-Policy")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert all("; secure" in kept.lower() for kept in headers.get_all("Set-Cookie"))
        (cookie,) = (c for c in headers.get_all("Set-Cookie") if c.startswith("headroom_visit"))
        assert re.fullmatch(
            r"headroom_visit=[0-9a-f]{32}; Path=/; Secure; HttpOnly; SameSite=Lax", cookie
        )


@needs_both
def test_every_page_draws(arrive):
    """Under the policy, which nothing offends; and a page within a page is not served."""
    page = arrive("?from=six-identical")
    assert page.locator(".js-plotly-plot .main-svg").count() >= 1
    for declared in declared_pages()[1:]:
        go_to(page, declared.title)
        assert page.locator("h1").count() >= 1, declared.title
        assert page.get_by_test_id("stException").count() == 0
        if declared.title == "Learn":
            assert page.locator("svg rect, canvas").count() >= 1  # the player draws
    offended = [text for text in page.complaints if "Content Security Policy" in text]
    assert offended == []
    assert not [text for text in page.complaints if re.search("Failed to fetch|429", text)]


@needs_both
def test_an_upload_comes_through(arrive):
    """And one that is too large is told."""
    page = arrive("?from=upload")
    page.locator('[data-testid="stFileUploader"] input').first.set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": TRACE}
    )
    page.get_by_text("mine.csv: 30 requests").wait_for()
    browser.settled(page)
    assert page.locator("h1").count() == 1


@needs_both
def test_a_visit_stays_where_it_is(arrive, running):
    """When the proxy starts anew it comes back to its own process, where what it saved lies."""
    page = arrive("?from=six-identical")
    save(page, "mine")
    running.restart()
    page.wait_for_timeout(3000)
    browser.settled(page)
    go_to(page, "Saved")
    assert "One view is saved, mine" in page.locator("h1").inner_text()
    assert {len(processes) for processes in running.processes().values()} == {1}


@needs_nginx
def test_visits_are_spread(running):
    """Over both processes, by the cookie, whatever else it comes with."""
    for number in range(24):
        asked = urllib.request.Request(f"{running.address}/_stcore/health")
        asked.add_header("Cookie", f"headroom_visit={number:032x}")
        trusting = ssl._create_unverified_context()
        assert urllib.request.urlopen(asked, timeout=10, context=trusting).read() == b"ok"
    processes = running.processes()
    assert len(set().union(*(processes.get(f"{number:032x}", set()) for number in range(24)))) == 2
