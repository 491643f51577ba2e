"""Settings for every test, and the shared traces that a checkout may lack."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.services import browser

EXAMPLES = {"quick": 1.0, "thorough": 10.0, "glance": 0.05}  # of those that a test asks for
STEADY = settings(
    deadline=None,  # the first call of a kernel compiles it
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", STEADY, derandomize=True)
settings.register_profile("thorough", STEADY, derandomize=False, print_blob=True)
settings.register_profile("glance", STEADY, derandomize=True)  # tests/coverage.sh
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_modifyitems(items):
    """Each property test draws as many examples as the profile says."""
    share = EXAMPLES[settings.get_current_profile_name()]
    done = set()
    for item in items:
        test = getattr(item, "function", None)
        if test not in done and is_hypothesis_test(test):
            asked = test._hypothesis_internal_use_settings
            some = max(1, round(share * asked.max_examples))
            test._hypothesis_internal_use_settings = settings(asked, max_examples=some)
            done.add(test)


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
