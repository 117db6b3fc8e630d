"""What a published run looks like to its readers, whatever its kind: Markdown, one HTML page, JSON,
and the files of its folder.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from dashboards.render.render import OutputFormat
from schemas.base import Noun
from warehouse.parquet import write_bytes


class PublishedPage(ABC):
    """The page of one published run."""

    @property
    @abstractmethod
    def units(self) -> Sequence[Noun]:
        """What was landed, a noun a unit."""

    @abstractmethod
    def markdown(self) -> str:
        """The report as Markdown."""

    @abstractmethod
    def html(self) -> str:
        """The report as one self-contained page."""

    def bib(self) -> str | None:
        """The works it cites as a `.bib` file; None: such a page has none."""
        return None

    def beside(self) -> dict[str, Any]:
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

    def short(self) -> str:
        """What a terminal shows, as Markdown."""
        return self.markdown()

    def files(self) -> dict[str, str]:
        """Reports by the names of their files, the first one to be looked at first."""
        return {"index.html": self.html(), "index.md": self.markdown()}

    def pictures(self) -> dict[str, str]:
        """Drawings that `index.md` shows, as SVG by the names of their files."""
        return {}

    def written_as(self, output_format: OutputFormat) -> str:
        """The report in one of its two forms."""
        return self.html() if output_format == "html" else self.markdown()

    def json(self) -> str:
        """Every unit as it was landed."""
        return to_json(tuple(self.units), indent=2).decode() + "\n"

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write files and pictures into `folder`, each whole or not at all; the files' paths.

        Raises:
            OSError: they cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        files = self.files()
        for name, text in (files | self.pictures()).items():
            building = folder / f"{name}.building"
            write_bytes(building, text.encode("utf-8", "replace"))
            building.replace(folder / name)
        return tuple(folder / name for name in files)
