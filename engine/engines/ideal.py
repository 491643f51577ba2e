"""The papers' model: look-ahead or a policy's own rule, with no limits of an engine's."""

from engine.engines.engine import Engine

IDEAL = Engine("ideal", title="Ideal", source="arXiv 2508.06133 and 2502.07115")
