"""One page with its title; an error of ours becomes one line instead of a traceback."""

from importlib import resources
from pathlib import Path

import streamlit as st

from dashboards.app import state, text
from dashboards.app.data import Lake
from dashboards.app.registry import Page
from schemas.errors import AssayError

STYLE = Path(str(resources.files("dashboards.app").joinpath("style.css")))


def draw(page: Page, lake: Lake) -> None:
    """Draw a page. Whatever the reader or the operator can mend is one line on it."""
    state.enter_page(page.name)
    st.html(STYLE)
    st.title(page.title, anchor=False)
    try:
        page.show(lake)
    except AssayError as error:
        st.error(text.line(str(error)), icon=":material/error:")
    state.write_address()
