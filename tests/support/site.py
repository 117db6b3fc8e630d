"""Opens pages of the site without a browser: requests to the application, answers read as HTML."""

from collections.abc import Mapping
from typing import Any

from httpx import Response
from lxml import html
from starlette.testclient import TestClient

from dashboards.app.application import pages
from schemas.settings import Settings
from warehouse.warehouse import Warehouse


def site_of(warehouse: Warehouse, **dashboard: Any) -> TestClient:
    """A browser of the site over a warehouse; it follows no redirect.

    Args:
        dashboard: settings of the dashboard.
    """
    settings = Settings(dashboard={"warehouse": warehouse.root, **dashboard})  # type: ignore[arg-type]
    return TestClient(pages(settings), base_url="http://127.0.0.1", follow_redirects=False)


class Page:
    """A page as a browser finds it."""

    def __init__(self, answer: Response) -> None:
        self.status, self.answer = answer.status_code, answer
        self.tree = html.fromstring(answer.text)

    @property
    def words(self) -> str:
        """All that a reader sees below the menu."""
        (main,) = self.tree.xpath("//main")
        return " ".join(main.text_content().split())

    @property
    def title(self) -> str:
        return str(self.tree.findtext(".//title"))

    @property
    def menu(self) -> list[str]:
        return [str(each) for each in self.tree.xpath("//header//a/text()")]

    def links(self, words: str) -> list[str]:
        """Addresses of links that have these words."""
        return [
            str(each.get("href"))
            for each in self.tree.iter("a")
            if words in " ".join(each.text_content().split())
        ]

    def table(self, heading: str) -> list[dict[str, str]]:
        """Rows of the first table with a column of this heading."""
        for table in self.tree.iter("table"):
            names = [" ".join(each.text_content().split()) for each in table.xpath(".//th")]
            if heading in names:
                return [
                    dict(
                        zip(
                            names,
                            (" ".join(cell.text_content().split()) for cell in row),
                            strict=True,
                        )
                    )
                    for row in table.xpath(".//tbody/tr")
                ]
        raise AssertionError(f"no table has a column {heading!r}")

    @property
    def unsafe(self) -> list[str]:
        """What text that came from elsewhere must never become."""
        (main,) = self.tree.xpath("//main")
        elements = [each.tag for each in main.iter("script", "img", "iframe", "object", "b", "i")]
        links = [
            href
            for href in map(str, main.xpath("//a/@href"))
            if not href.startswith(("/", "#", "http://", "https://"))
        ]
        handlers = [
            str(name) for each in main.iter() for name in each.attrib if name.startswith("on")
        ]
        return [*map(str, elements), *links, *handlers]


def opened(client: TestClient, path: str, query: Mapping[str, str] | None = None) -> Page:
    """The page at an address."""
    return Page(client.get(path, params=query or None))
