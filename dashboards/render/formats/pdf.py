"""PDF output by Typst in a child process."""

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
    """Return a tagged PDF with bookmarks; PDF/UA-1 if fonts have all characters.

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
