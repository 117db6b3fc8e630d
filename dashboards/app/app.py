"""Entry of the dashboard: `assay dashboard` starts it; settings come from the environment."""

from functools import partial
from importlib import resources
from pathlib import Path

import streamlit as st

from dashboards.app import links, site, state, text
from dashboards.app.access import may, show_person
from dashboards.app.data import Lake, open_lake
from dashboards.app.registry import PAGES, Page
from schemas.errors import AssayError
from schemas.people.role import Action
from schemas.settings import Settings

MATERIAL = ":material/{}:"
STYLE = Path(str(resources.files("dashboards.app").joinpath("style.css")))


def main() -> None:
    """Show the page of the address; the server lets in only who may read it."""
    settings = Settings()
    st.set_page_config(
        page_title="Assay",
        page_icon=str(resources.files("dashboards.app").joinpath("icon.svg")),
        layout="wide",
    )
    try:
        page = _page_of_address(open_lake(settings))
    except AssayError as error:  # who reads this cannot be known, so nothing else is shown
        st.error(text.line(str(error)), icon=":material/error:")
        return
    page.run()


def _page_of_address(lake: Lake) -> "st.Page":
    """Streamlit hears of the pages that this reader may use, and of no other."""
    pages = {}
    here = _pages_for_reader(lake)
    for page in here:
        shown = st.Page(
            partial(draw, page, lake),
            title=page.title,
            icon=MATERIAL.format(page.icon),
            url_path=page.name,
        )
        pages[page.name] = shown
    links.remember_pages(pages)
    # Streamlit shows its first page under `/` alone, which is the site's.
    nowhere = st.Page(
        _nothing, title="Assay", url_path="nowhere", default=True, visibility="hidden"
    )
    chosen = st.navigation([nowhere, *pages.values()], position="hidden")
    _menu(lake, here, pages)
    with st.sidebar:
        show_person(lake.warehouse)
    return chosen


def _nothing() -> None:
    """The page of an address that is not Streamlit's."""


def _pages_for_reader(lake: Lake) -> tuple[Page, ...]:
    """One that the reader may not use is not there."""
    allowed = {action for action in Action if may(lake.warehouse, action)}
    return tuple(page for page in PAGES if allowed.intersection(page.needs))


def _menu(lake: Lake, here: tuple[Page, ...], pages: dict[str, "st.Page"]) -> None:
    """Streamlit's own menu puts headings into its list of links,
    which screen readers cannot follow.
    """
    with st.sidebar:
        allowed = {action for action in Action if may(lake.warehouse, action)}
        ways = (page for page in site.PAGES if page.label and allowed.intersection(page.needs))
        st.html(" · ".join(f'<a href="{way.path}" target="_self">{way.label}</a>' for way in ways))
        for number, page in enumerate(here):
            if number == 0 or page.section != here[number - 1].section:
                st.caption(page.section)
            st.page_link(pages[page.name], label=page.title)


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


if __name__ == "__main__":
    main()
