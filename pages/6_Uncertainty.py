"""Uncertainty: what wrong predictions of output lengths cost, and which margin to set."""

from pages.parts.frame import page
from pages.parts.sidebar.memory import offer_memory
from pages.parts.uncertainty.predictor import tell_predictor
from pages.parts.uncertainty.study import tell_study
from pages.parts.view import View


def draw(view: View) -> None:
    """A study along one axis, and the user's own predictor."""
    offer_memory(view.deployment.memory)
    tell_study(view)
    tell_predictor(view)


page(
    "Uncertainty",
    draw,
    icon=":material/casino:",
    question="What do wrong predictions of output lengths cost, and what margin helps?",
)
