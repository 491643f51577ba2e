"""The proxy of deploy/proxy as docs/serving.md sets it up, with two servers behind it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.services.browser import ROOT, free_port, fresh_server

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
OPENSSL = shutil.which("openssl")
CONFIGURATION = ROOT / "deploy" / "proxy" / "nginx.conf"
AROUND = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    default_type application/octet-stream;
    log_format visits "$headroom_visit $upstream_addr";
    access_log {folder}/access.log visits;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/headroom.conf;
}}
"""


def prepared(folder: Path, ports: tuple[int, int], plain: int, secure: int) -> Path:
    """The file for nginx to start with: what is to be changed is changed, and nothing else."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    signed = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([OPENSSL, "req", *signed, *files], check=True, capture_output=True)
    text = CONFIGURATION.read_text()
    changes = {
        "/etc/ssl/headroom/": f"{folder}/",
        "127.0.0.1:8501": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8502": f"127.0.0.1:{ports[1]}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ": f"listen 127.0.0.1:{secure} ",
        "headroom.example": "localhost",
    }
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    (folder / "headroom.conf").write_text(text)
    start = folder / "nginx.conf"
    user = "" if os.geteuid() else "user root;"  # or its workers could not write in the folder
    start.write_text(AROUND.format(folder=folder, user=user))
    return start


def complaints(start: Path) -> str:
    """What nginx says of a configuration; empty where nothing is to be said."""
    checked = subprocess.run(
        [NGINX, "-t", "-q", "-c", str(start)], capture_output=True, text=True, check=False
    )
    # Its own log, which it opens before it has read where to log, may be somebody else's.
    rows = [row for row in checked.stderr.splitlines() if "/var/log/nginx" not in row]
    return "\n".join(rows) if rows or not checked.returncode else f"exit {checked.returncode}"


class Proxy:
    """A running nginx.

    Attributes
    ----------
    address : of the dashboard behind it
    """

    def __init__(self, folder: Path, servers: list[str]) -> None:
        ports = tuple(int(re.search(r"\d+$", address)[0]) for address in servers)
        secure = free_port()
        self.address = f"https://localhost:{secure}"
        self._folder = folder
        self._start = prepared(folder, ports, free_port(), secure)
        self._begin()

    def _begin(self) -> None:
        self._process = subprocess.Popen([NGINX, "-c", str(self._start)], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not (self._folder / "nginx.pid").exists():
            assert self._process.poll() is None, (self._folder / "error.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)

    def close(self) -> None:
        """All connections through it are cut."""
        self._process.terminate()
        self._process.wait(timeout=20)

    def processes(self) -> dict[str, set[str]]:
        """Which processes have answered, by visit."""
        by_visit: dict[str, set[str]] = {}
        for row in (self._folder / "access.log").read_text().splitlines():
            visit, process = row.split(" ", 1)
            by_visit.setdefault(visit, set()).add(process)
        return {visit: where - {"-"} for visit, where in by_visit.items() if where != {"-"}}

    def restart(self) -> None:
        self.close()
        self._begin()


@contextmanager
def proxied(folder: Path, environment: dict[str, str]):
    """A proxy with two fresh servers behind it."""
    with ExitStack() as stack:
        servers = [stack.enter_context(fresh_server(environment)) for _ in range(2)]
        running = Proxy(folder, servers)
        stack.callback(running.close)
        yield running
