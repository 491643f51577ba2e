"""Settings for every test, and the shared traces that a checkout may lack."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.services import browser

settings.register_profile(
    "steady",
    deadline=None,  # the first call of a kernel compiles it
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory):
    """A folder for the user's own data, so that tests see and touch none of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADROOM_HOME", str(tmp_path_factory.mktemp("own")))
        yield


@pytest.fixture(scope="session")
def shared():
    """The folder of public traces and known answers, which is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared traces and known answers are absent ({SHARED.name}/)")
    return SHARED


@pytest.fixture(scope="session")
def server():
    """The address of one fresh server for all browser tests."""
    with browser.fresh_server() as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    """One browser for the tests of a file; each opens its own clean context."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser.CHROMIUM, args=browser.FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visitor(chromium, request):
    """A page of a visitor who was never here; its last sight is kept as a picture."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    yield page
    browser.photograph(page, request.node.name)
    context.close()
