"""Reports as text."""

import zipfile
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

from defusedxml import ElementTree

from dashboards.render.charts.drawing import picture
from dashboards.render.formats.report_file import document, published_idea
from dashboards.render.formats.report_format import ReportFormat
from dashboards.render.page import Figure
from dashboards.render.page import Page as View
from dashboards.views.pages_by_kind import published_view
from dashboards.views.write_ranking import ranking_page
from schemas.identifiers import IdeaId, RunId
from warehouse.warehouse import Warehouse


def idea_report(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, form: str, *, full: bool = False
) -> str:
    return _written(published_idea(warehouse, run_id, idea_id, full=full), form)


def run_report(warehouse: Warehouse, run_id: RunId, form: str) -> str:
    """Of a published run of whatever kind."""
    return _written(published_view(warehouse, run_id), form)


def ranking_report(warehouse: Warehouse, run_id: RunId, form: str) -> str:
    return _written(ranking_page(warehouse, run_id).page(), form)


def _written(page: View, form: str) -> str:
    return document(page, ReportFormat(form)).decode()


class Page(HTMLParser):
    """What a browser would find: elements, attributes, addresses."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.attributes, self.addresses, self.rels = set(), set(), [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "a":
            self.addresses.append(dict(attrs)["href"])
            self.rels.add(dict(attrs).get("rel"))


_SVG = "{http://www.w3.org/2000/svg}"


def marks(figure: Figure, element: str, kind: str | None = None) -> list[dict[str, Any]]:
    """Attributes of the elements of a name and class in the order drawn, numbers as such.

    `tooltip` and `words` are the texts within.
    """
    found = []
    for each in ElementTree.fromstring(picture(figure)).iter(f"{_SVG}{element}"):
        if kind is None or each.get("class", "") == kind:
            title = each.find(f"{_SVG}title")
            values = {name: _number(value) for name, value in each.attrib.items()}
            tooltip = "" if title is None else title.text
            found.append({**values, "tooltip": tooltip, "words": each.text or ""})
    return found


def _number(value: str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def word_text(file: bytes) -> str:
    """A line per paragraph, in the order of the document."""
    root = ElementTree.fromstring(zipfile.ZipFile(BytesIO(file)).read("word/document.xml"))
    return "\n".join(
        "".join(text.text or "" for text in paragraph.iter(f"{_WORD}t"))
        for paragraph in root.iter(f"{_WORD}p")
    )
