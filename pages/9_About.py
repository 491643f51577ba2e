"""About: the model, what it leaves out, the policies, the bounds and the sources."""

import streamlit as st

from pages.parts.about.about import (
    GLOSSARY,
    LIMITS,
    MODEL,
    headline,
    list_bounds,
    list_classes,
    list_policies,
)
from pages.parts.frame import page
from pages.parts.view import View


def draw(view: View) -> None:
    """Texts first, then what the registries hold."""
    st.markdown(f"# {headline()}")
    st.markdown(MODEL)
    st.markdown(LIMITS)
    list_policies()
    list_bounds()
    list_classes()
    st.markdown(GLOSSARY)


page(
    "About",
    draw,
    icon=":material/info:",
    question="The model, the policies, the sources.",
)
