"""The one list of pages, in the order of the menu."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from dashboards.app.data import Lake
from schemas.people.role import Action


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        name: its address and its file in `screens/`.
        icon: a name of Google's Material Symbols.
        needs: what a reader has to be allowed to do for the page to be there; one is enough.
    """

    name: str
    title: str
    icon: str
    section: str
    needs: tuple[Action, ...] = (Action.READ,)

    @property
    def show(self) -> Callable[[Lake], None]:
        """Draws the page; its file is imported when it is first opened, so that no page waits for
        another.
        """
        function: Callable[[Lake], None] = import_module(f"dashboards.app.screens.{self.name}").show
        return function


PAGES: tuple[Page, ...] = ()
PAGE: dict[str, Page] = {page.name: page for page in PAGES}
