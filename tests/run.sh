#!/usr/bin/env bash
# Sets up everything the tests need on a fresh machine, then lints and tests.
# Arguments go to pytest: bash tests/run.sh tests/engine/simulate/test_look_ahead.py
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x .venv/bin/python ]; then
  python3 -m venv .venv
fi
.venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt -r tests/requirements.txt

# The browser tests drive Debian's Chromium; elsewhere they say that they are skipped.
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq chromium >/dev/null
fi

.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
# A file's tests stay together: they share a server, a database or a cluster.
exec .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile "$@"
