"""The page that shows what the API takes: plain HTML that loads nothing."""

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined, Template


def page_of(schema: dict[str, Any]) -> str:
    """An OpenAPI document as one page."""
    return _template().render(info=schema["info"], paths=schema["paths"], parts=_parts(schema))


def _parts(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema.get("components", {}).get("schemas", {})
    return {name: part for name, part in found.items() if "properties" in part}


@cache
def _template() -> Template:
    text = resources.files("flows.api").joinpath("page.html.jinja").read_text("utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
