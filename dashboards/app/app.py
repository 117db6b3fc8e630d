"""Entry of the dashboard: `assay dashboard` starts it; settings come from the environment."""

from functools import partial
from importlib import resources
from pathlib import Path

import streamlit as st

from dashboards.app import links, state, text
from dashboards.app.access import admitted, may, show_person
from dashboards.app.data import Lake, open_lake
from dashboards.app.registry import PAGES, Page
from schemas.errors import AssayError
from schemas.people.role import Action
from schemas.settings import DashboardSettings, Settings

MATERIAL = ":material/{}:"
STYLE = Path(str(resources.files("dashboards.app").joinpath("style.css")))


def main() -> None:
    """Have the reader sign in where that is asked, then show the page of the address."""
    settings = Settings()
    st.set_page_config(
        page_title="Assay",
        page_icon=str(resources.files("dashboards.app").joinpath("icon.svg")),
        layout="wide",
    )
    try:
        page = _page_of_address(open_lake(settings), settings.dashboard)
    except AssayError as error:  # who reads this cannot be known, so nothing else is shown
        st.error(text.line(str(error)), icon=":material/error:")
        return
    if page is not None:
        page.run()


def _page_of_address(lake: Lake, settings: DashboardSettings) -> "st.Page | None":
    """None, with no menu, for a reader who may not see it.

    Streamlit hears of the pages either way: else it forgets which one was asked.
    """
    sections: dict[str, list[st.Page]] = {}
    pages = {}
    here = _pages_for_reader(lake) or PAGES
    for number, page in enumerate(here):
        shown = st.Page(
            partial(draw, page, lake),
            title=page.title,
            icon=MATERIAL.format(page.icon),
            url_path=page.name if number else "home",
            default=number == 0,
        )
        sections.setdefault(page.section, []).append(shown)
        pages[page.name] = shown
    links.remember_pages(pages)
    first = here[0]  # its address is that of the app; its own name leads there too
    alias = st.Page(
        partial(draw, first, lake), title=first.title, url_path=first.name, visibility="hidden"
    )
    sections[first.section].append(alias)
    chosen = st.navigation(sections, position="hidden")
    if not admitted(lake.warehouse, settings):
        return None
    _menu(here, pages)
    with st.sidebar:
        show_person(lake.warehouse)
    return chosen


def _pages_for_reader(lake: Lake) -> tuple[Page, ...]:
    """One that the reader may not use is not there; none for who has not signed in."""
    allowed = {action for action in Action if may(lake.warehouse, action)}
    return tuple(page for page in PAGES if allowed.intersection(page.needs))


def _menu(here: tuple[Page, ...], pages: dict[str, "st.Page"]) -> None:
    """Streamlit's own menu puts headings into its list of links,
    which screen readers cannot follow.
    """
    with st.sidebar:
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
