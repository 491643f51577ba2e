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
