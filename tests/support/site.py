"""Opens pages of the site without a browser: requests to the application, answers read as HTML."""

import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from httpx import Response
from lxml import html
from starlette.testclient import TestClient

from dashboards.app.access import cookie_name
from dashboards.app.application import pages
from schemas.people.role import Role
from schemas.settings import Settings
from warehouse.app.accounts import accounts, add_account, begin_session
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

PASSWORD = "correct horse battery"


def site_of(warehouse: Warehouse, **dashboard: Any) -> TestClient:
    """A browser of the site over a warehouse; it follows no redirect.

    Args:
        dashboard: settings of the dashboard.
    """
    settings = Settings(dashboard={"warehouse": warehouse.root, **dashboard})  # type: ignore[arg-type]
    return TestClient(pages(settings), base_url="http://127.0.0.1", follow_redirects=False)


def signed_in(warehouse: Warehouse, role: Role, name: str = "") -> TestClient:
    """A browser with a session of an account of this role, made where there is none."""
    name = name or str(role)
    with ServiceDatabase(warehouse) as database:
        if name not in {each.name for each in accounts(database)}:
            add_account(database, name, role, PASSWORD)
        secret = begin_session(database, name, timedelta(hours=1))
    assert secret is not None
    client = site_of(warehouse)
    client.cookies.set(cookie_name(warehouse), secret)
    return client


def copied(warehouse: Warehouse, folder: Path) -> Warehouse:
    """Copy a warehouse for a test to write to."""
    return Warehouse(shutil.copytree(warehouse.root, folder / "warehouse"))


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

    def form(self, button: str) -> tuple[str, dict[str, Any]]:
        """Where a form sends what, once its button of these words is pressed."""
        for form in self.tree.xpath("//main//form"):
            for each in form.iter("button"):
                if str(each.text or "").strip() == button:
                    fields: dict[str, list[str]] = {}
                    for name, value in form.form_values():
                        fields.setdefault(name, []).append(value.removeprefix("\n"))
                    own = {each.get("name"): each.get("value")} if each.get("name") else {}
                    told = {name: one if more == [] else [one, *more]
                            for name, (one, *more) in fields.items()}  # fmt: skip
                    return str(form.get("action")), told | own
        raise AssertionError(f"no button {button!r}")

    @property
    def buttons(self) -> list[str]:
        """Words of the buttons below the menu, without their keys."""
        (main,) = self.tree.xpath("//main")
        found = main.xpath(".//button[not(ancestor::noscript)]")
        return [str(each.text or "").strip() for each in found]

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


def pressed(client: TestClient, page: Page, button: str, /, **fields: Any) -> Response:
    """The answer to a form of the page, with these fields filled in and a button pressed."""
    place, sent = page.form(button)
    return client.post(place, data=sent | fields)


def opened(client: TestClient, path: str, query: Mapping[str, str] | None = None) -> Page:
    """The page at an address."""
    return Page(client.get(path, params=query or None))
