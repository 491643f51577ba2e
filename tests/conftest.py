"""Settings for every test, and the shared traces that a checkout may lack."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
