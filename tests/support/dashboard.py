"""Opens one page of the dashboard without a browser."""

import inspect
import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dashboards.app import access, app
from schemas.people.role import Role
from warehouse.app.accounts import accounts, add_account, sign_in
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

# Each run of a page would read the metadata of every installed package: half of its time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

SECONDS = 240
PASSWORD = "correct horse battery"


def open_page(
    name: str, warehouse: Warehouse, state: Mapping[str, str] | None = None, **more: str
) -> AppTest:
    """The page `name` on a warehouse, its address holding `state`; it met no exception.

    Nothing is cached from pages opened before.
    """
    test = AppTest.from_function(
        _script, default_timeout=SECONDS, kwargs={"name": name, "root": str(warehouse.root)}
    )
    for key, value in {**(state or {}), **more}.items():
        test.query_params[key] = value
    test.run()
    assert not test.exception, test.exception[0].message
    return test


def _script(name: str, root: str) -> None:
    # Streamlit runs the text of this function alone.
    from pathlib import Path

    from dashboards.app.app import draw
    from dashboards.app.data import Lake
    from dashboards.app.registry import PAGE
    from warehouse.warehouse import Warehouse

    draw(PAGE[name], Lake(Warehouse(Path(root))))


def words(test: AppTest) -> str:
    """Everything a reader sees as text, tables and code included."""
    kinds = (
        "title",
        "subheader",
        "markdown",
        "caption",
        "info",
        "error",
        "warning",
        "text",
        "code",
        "metric",
        "success",
    )
    found = [
        f"{getattr(element, 'label', '')} {element.value}"
        for kind in kinds
        for element in getattr(test, kind)
    ]
    found += [element.value.to_csv() for element in test.dataframe]
    return "\n".join(inspect.cleandoc(str(part)) for part in found)


def sign_in_as(role: Role, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have all pages from here on opened by somebody who signed in; their name."""
    name = f"{role}@example.org"
    with ServiceDatabase(warehouse) as database:
        if name not in {each.name for each in accounts(database)}:
            add_account(database, name, role, PASSWORD)
        secret = sign_in(database, name, PASSWORD, timedelta(hours=1))
    monkeypatch.setattr(access, "_secret", lambda _: secret)
    return name


def open_app(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The whole app, with its menu and password, on a warehouse."""
    monkeypatch.setenv("ASSAY_DASHBOARD__WAREHOUSE", str(warehouse.root))
    return AppTest.from_file(str(Path(app.__file__)), default_timeout=SECONDS).run()


_TAG = re.compile(r"(?<!\\)<(?:script|img|svg|b|i)\b", re.IGNORECASE)
_UNSAFE_LINK = re.compile(r"(?<!\\)\]\((?!https?://)", re.IGNORECASE)
_FORMULA_OR_IMAGE = re.compile(r"(?<!\\)\$|(?<!\\)!\[")


def unsafe_parts(page: AppTest) -> list[str]:
    """Markdown of the page that would show HTML, lead elsewhere than to the web, or hold an image
    or formula.
    """
    written = [
        element
        for kind in (
            "markdown",
            "caption",
            "header",
            "subheader",
            "info",
            "warning",
            "error",
            "success",
        )
        for element in getattr(page, kind)
    ]
    labels = [
        element.label for kind in ("expander", "metric", "tabs") for element in getattr(page, kind)
    ]
    allowed = [element.value for element in written if getattr(element, "allow_html", False)]
    texts = [str(element.value) for element in written] + labels
    return allowed + [
        text
        for text in texts
        if _TAG.search(text) or _UNSAFE_LINK.search(text) or _FORMULA_OR_IMAGE.search(text)
    ]
