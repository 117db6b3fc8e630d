"""Entry of the dashboard: `assay dashboard` starts it; settings come from the environment."""

from functools import partial
from importlib import resources

import streamlit as st
from pydantic import SecretStr

from dashboards.app import links
from dashboards.app.access import admitted
from dashboards.app.data import Lake, open_lake
from dashboards.app.page import draw
from dashboards.app.registry import PAGES
from schemas.settings import Settings

MATERIAL = ":material/{}:"


def main() -> None:
    """Ask for the password where one is set, then show the page of the address."""
    settings = Settings()
    st.set_page_config(
        page_title="Assay",
        page_icon=str(resources.files("dashboards.app").joinpath("icon.svg")),
        layout="wide",
    )
    page = _page_of_address(open_lake(settings), password=settings.dashboard.password)
    if page is not None:
        page.run()


def _page_of_address(lake: Lake, password: SecretStr | None) -> "st.Page | None":
    """None, with no menu, for a reader who may not see it.

    Streamlit hears of the pages either way: else it forgets which one was asked.
    """
    sections: dict[str, list[st.Page]] = {}
    pages = {}
    for number, page in enumerate(PAGES):
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
    first = PAGES[0]  # its address is that of the app; its own name leads there too
    alias = st.Page(
        partial(draw, first, lake), title=first.title, url_path=first.name, visibility="hidden"
    )
    sections[first.section].append(alias)
    chosen = st.navigation(sections, position="hidden")
    if not admitted(password):
        return None
    _menu(pages)
    return chosen


def _menu(pages: dict[str, "st.Page"]) -> None:
    """Streamlit's own menu puts headings into its list of links,
    which screen readers cannot follow.
    """
    with st.sidebar:
        for number, page in enumerate(PAGES):
            if number == 0 or page.section != PAGES[number - 1].section:
                st.caption(page.section)
            st.page_link(pages[page.name], label=page.title)


if __name__ == "__main__":
    main()
