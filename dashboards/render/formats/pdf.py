"""A page as a PDF, set by Typst in a process of its own."""

import json
import tempfile
from importlib import resources
from pathlib import Path

from dashboards.render.charts.drawing import picture
from dashboards.render.drafts.programs import run_typst
from dashboards.render.formats.pandoc import tree
from dashboards.render.page import Figure, Page

_TEMPLATE = "page.typ"


def pdf_file(page: Page) -> bytes:
    """The document: tagged, with bookmarks, and where fonts have all characters a PDF/UA-1.

    Raises:
        ConfigurationError: Typst refuses, in its words.
    """
    pictures: dict[str, str] = {}

    def drawn(figure: Figure) -> str:
        pictures[figure.name] = picture(figure, printed=True)
        return figure.name

    page_tree = tree(page, drawn)
    with tempfile.TemporaryDirectory(prefix="assay-pdf-") as place:
        folder = Path(place)
        template = resources.files("dashboards.render.formats").joinpath(_TEMPLATE)
        (folder / _TEMPLATE).write_bytes(template.read_bytes())
        for name, content in (("page", page_tree), ("pictures", pictures)):
            (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
        run_typst(folder / _TEMPLATE, folder / "page.pdf", accessible=True)
        return (folder / "page.pdf").read_bytes()
