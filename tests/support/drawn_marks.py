"""Reads the marks of a drawing."""

from typing import Any

from defusedxml import ElementTree

from dashboards.render.charts.drawing import picture
from dashboards.render.page import Figure

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
