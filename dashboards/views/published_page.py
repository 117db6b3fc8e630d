"""Base of pages of published work: Markdown, HTML, JSON and files."""

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


def drawings_of(page: Page) -> dict[str, str]:
    """Return the drawings of a page as SVG, by file name."""
    return {f"{each.name}.svg": picture(each) for each in figures_of(page.blocks)}


class PublishedPage(ABC):
    """The page of published work."""

    @property
    @abstractmethod
    def units(self) -> Sequence[Noun]:
        """The landed units."""

    @property
    def run(self) -> Noun | None:
        """The `run` field of `--json`; None: the page covers several runs."""
        head: Noun = getattr(self, "head")  # noqa: B009 -- every page has one, of its own type
        return head

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings beyond those of its head."""
        return ()

    @abstractmethod
    def page(self) -> Page:
        """Return the report as values."""

    def markdown(self) -> str:
        return markdown_page(self.page())

    def html(self) -> str:
        """Return the report as one self-contained page."""
        return html_page(self.page())

    def drawings(self) -> dict[str, str]:
        """Return all drawings of the work as SVG, by path within its report."""
        return drawings_of(self.page())

    def bib(self) -> str | None:
        """Return the cited papers as a `.bib` file; None: the page cites none."""
        return None

    def json_fields(self) -> dict[str, Any]:
        """Return further fields of `--json`."""
        return {}

    @property
    def faults(self) -> Sequence[str]:
        """Errors in the written files."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """Notes on the written files."""
        return ()

    def short_page(self) -> Page:
        """Return the report for a terminal."""
        return self.page()

    def short(self) -> str:
        """Return the report for a terminal as Markdown."""
        return markdown_page(self.short_page())

    def files(self, page: Page) -> dict[str, str]:
        """Return the report's texts by file name, the main one first."""
        return {"index.html": html_page(page), "index.md": markdown_page(page, pictures=True)}

    def json(self) -> str:
        """Return the landed units as JSON."""
        return to_json(tuple(self.units), indent=2).decode() + "\n"

    def save_as(self, path: Path) -> tuple[Path, ...] | None:  # noqa: ARG002 -- of its kind
        """Write a format that only this kind has; return the paths, None for others."""
        return None

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the report's files and drawings, each atomically.

        Returns:
            The paths of the files, without those of the drawings.

        Raises:
            OSError: they cannot be written.
        """
        page = self.page()
        files, drawings = self.files(page), drawings_of(page)
        for name, text in (files | drawings).items():
            replace_bytes(folder / name, text.encode("utf-8", "replace"))
        return tuple(folder / name for name in files)
