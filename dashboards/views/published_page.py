"""What a published run looks like to its readers, whatever its kind: Markdown, one HTML page, JSON,
and the files of its folder.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from dashboards.render.charts.drawing import picture
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page, figures_of
from schemas.base import Noun
from warehouse.parquet import replace_bytes


class PublishedPage(ABC):
    """The page of one published run."""

    @property
    @abstractmethod
    def units(self) -> Sequence[Noun]:
        """What was landed, a noun a unit."""

    @property
    def run(self) -> Noun | None:
        """What `--json` calls the run; None: the page is about several."""
        head: Noun = getattr(self, "head")  # noqa: B009 -- every page has one, of its own type
        return head

    @property
    def warnings(self) -> Sequence[str]:
        """What is wrong beside what its head says, a line each."""
        return ()

    @abstractmethod
    def page(self) -> Page:
        """The report as values."""

    def markdown(self) -> str:
        """The report as Markdown."""
        return markdown_page(self.page())

    def html(self) -> str:
        """The report as one self-contained page."""
        return html_page(self.page())

    def bib(self) -> str | None:
        """The works it cites as a `.bib` file; None: such a page has none."""
        return None

    def json_fields(self) -> dict[str, Any]:
        """What `--json` tells beside the units."""
        return {}

    @property
    def faults(self) -> Sequence[str]:
        """What is wrong with the files that were written, a line each."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """What else there is to know of them."""
        return ()

    def short_page(self) -> Page:
        """What a terminal shows."""
        return self.page()

    def short(self) -> str:
        """The same as Markdown."""
        return markdown_page(self.short_page())

    def files(self) -> dict[str, str]:
        """Reports by the names of their files, the first one to be looked at first."""
        page = self.page()
        return {"index.html": html_page(page), "index.md": markdown_page(page, pictures=True)}

    def json(self) -> str:
        """Every unit as it was landed."""
        return to_json(tuple(self.units), indent=2).decode() + "\n"

    def save_as(self, path: Path) -> tuple[Path, ...] | None:  # noqa: ARG002 -- of its kind
        """Write a format of the kind's own; the files. None: the ending of `path` names none."""
        return None

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write files, and the drawings that `index.md` shows, each whole or not at all.

        Returns:
            The paths of the files, without those of the drawings.

        Raises:
            OSError: they cannot be written.
        """
        files = self.files()
        drawings = {f"{each.name}.svg": picture(each) for each in figures_of(self.page().blocks)}
        for name, text in (files | drawings).items():
            replace_bytes(folder / name, text.encode("utf-8", "replace"))
        return tuple(folder / name for name in files)
