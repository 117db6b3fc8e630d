"""Links between pages: the address of a page with its state."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

_PAGES = "pages of the menu"


def remember_pages(pages: Mapping[str, "st.Page"]) -> None:
    """Called by the entry: the pages that links may lead to."""
    st.session_state[_PAGES] = dict(pages)


def address(name: str, **state: str) -> str:
    """Relative address of a page, for link columns of tables: `idea?run=…&idea=…`."""
    query = urlencode(state)
    return f"{name}?{query}" if query else name


def to(name: str, label: str, **state: str) -> None:
    """A link to a page in the same window.

    Args:
        label: of our own words, or through `text.line`.
        state: values of the page's controls by key.
    """
    page = st.session_state.get(_PAGES, {}).get(name)
    if page is None:
        st.caption(label)
    else:
        st.page_link(page, label=label, query_params=dict(state))
