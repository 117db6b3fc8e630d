"""Links from pages of Streamlit: to each other, and to the pages of the site."""

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

import streamlit as st

from dashboards.app.site import idea_path, with_query

_PAGES = "pages of the menu"


def remember_pages(pages: Mapping[str, "st.Page"]) -> None:
    """Called by the entry: the pages that links may lead to."""
    st.session_state[_PAGES] = dict(pages)


def address(name: str, **state: str) -> str:
    """Address of a page, for link columns of tables: `ranking?run=…`, `/idea?run=…&idea=…`."""
    if name == "idea":
        return idea_path(state["run"], state["idea"])
    if name == "ideas":
        return with_query("/ideas", **state)
    query = urlencode(state)
    return f"{name}?{query}" if query else name


def to(name: str, label: str, **state: str) -> None:
    """A link to a page in the same window.

    Args:
        label: of our own words.
        state: values of the page's controls by key.
    """
    page = st.session_state.get(_PAGES, {}).get(name)
    if page is not None:
        st.page_link(page, label=label, query_params=dict(state))
    elif name in ("idea", "ideas"):
        st.html(f'<a href="{escape(address(name, **state))}" target="_self">{escape(label)}</a>')
    else:
        st.caption(label)
