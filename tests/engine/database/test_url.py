"""A URL names a database that can be used, or is refused in a sentence that tells nothing of it."""

from contextlib import suppress

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from engine import InputError
from engine.database import Database, database_url


@pytest.mark.parametrize("password", ["secret", "se@cret", "@", "a@b@c", "p%40q", "a:b@c", "@:@"])
def test_an_at_in_the_password(password):
    """The host begins after the last one; otherwise messages would show the rest as the host."""
    url = sa.make_url(database_url(f"postgresql://planner:{password}@db.example:5433/plans"))
    assert (url.username, url.password) == ("planner", password.replace("%40", "@"))
    assert (url.host, url.port, url.database) == ("db.example", 5433, "plans")


def test_user_with_an_at():
    """As some clouds name them."""
    url = sa.make_url(database_url("postgres://planner@db:pass@db.example/plans"))
    assert (url.username, url.password, url.host) == ("planner@db", "pass", "db.example")


@pytest.mark.parametrize(
    "odd",
    [
        "my database", "postgresql", "://", "mysql://me:secret@host/x", "oracle://me:secret@host/x",
        "postgresql://me:secret@host:port/x", "postgresql://me:secret@[::1/x",
        "postgresql+asyncpg://me:secret@host/x", "postgresql+nothing://me:secret@host/x",
        "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/secret.db",
        "sqlite:///secret.db?timeout=soon", "sqlite:///secret.db?mode=ro", "sqlite:///a\0secret",
        "sqlite+aiosqlite:///secret.db", "http://me:secret@host/x",
    ],
)  # fmt: skip
def test_odd_urls(odd):
    """None ends in a traceback, and none is shown."""
    with pytest.raises(InputError, match="must look like") as problem:
        Database.at(database_url(odd))
    assert "secret" not in str(problem.value)


@given(st.text(max_size=30) | st.text(max_size=20).map(lambda text: f"postgresql://{text}"))
def test_any_text(text):
    """Is a URL, or no URL in a sentence."""
    with suppress(InputError):
        Database.at(database_url(text or "?")).close()
