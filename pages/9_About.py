"""About: the model, what it leaves out, the policies, the bounds and the sources."""

import streamlit as st

from pages.parts.about import GLOSSARY, LIMITS, MODEL, list_bounds, list_classes, list_policies
from pages.parts.frame import page

with page("About"):
    st.markdown(MODEL)
    st.markdown(LIMITS)
    list_policies()
    list_bounds()
    list_classes()
    st.markdown(GLOSSARY)
