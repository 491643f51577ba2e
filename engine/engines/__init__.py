"""Serving engines: what each imposes on every policy alike (docs/model.md 1.7)."""

from engine.engines.engine import Engine
from engine.engines.ideal import IDEAL
from engine.engines.profiles import ENGINES, find_engine, read_engine

__all__ = ["ENGINES", "IDEAL", "Engine", "find_engine", "read_engine"]
