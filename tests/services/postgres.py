"""A PostgreSQL server of the tests' own, on a free port, in a folder that goes with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.services.browser import free_port

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def is_there() -> bool:
    return bool(BINARIES)


class Postgres:
    """Started at once; `url` is what a user would set.

    Its folder is none of pytest's, which only their owner may enter.
    """

    def __init__(self) -> None:
        self._folder = folder = Path(tempfile.mkdtemp(prefix="headroom-postgres-"))
        self._data, self._port = folder / "data", free_port()
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", self._data, "-U", "planner", "-A", "trust", "--no-sync")
        self.start()
        self.url = f"postgresql://planner@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Again, with all that was in it, where it has gone."""
        folder = self._folder
        options = f"-p {self._port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", folder / "log", "-o", options, "start")

    def go(self) -> None:
        """At once, as when its machine fails."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def stop(self) -> None:
        self.go()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *options) -> None:
        command = [str(BINARIES[-1].with_name(program)), *map(str, options)]
        user = {"user": "postgres"} if os.geteuid() == 0 else {}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **user)
