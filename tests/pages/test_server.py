"""The server as `streamlit run app.py` starts it."""

import http.client
from urllib.parse import urlsplit

import pytest


def health(host, port):
    asked = http.client.HTTPConnection(host, port, timeout=5)
    try:
        asked.request("GET", "/_stcore/health")
        return asked.getresponse().read()
    finally:
        asked.close()


def test_only_this_machine_is_served(server):
    """Bound to the loopback address alone: at any other address of the machine nobody answers."""
    port = urlsplit(server).port
    assert health("127.0.0.1", port) == b"ok"
    with pytest.raises(OSError, match=r".+"):  # refused, or not reachable
        health("127.0.0.2", port)


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_another_site_uploads_nothing(server, method):
    """Without the token that only this site's pages can read, before the visit is looked for."""
    asked = http.client.HTTPConnection("127.0.0.1", urlsplit(server).port, timeout=5)
    try:
        asked.request(method, "/_stcore/upload_file/a/b", headers={"Cookie": "_streamlit_xsrf=2|a"})
        assert asked.getresponse().status in (403, 405)
    finally:
        asked.close()
