"""What a specification in Vega-Lite draws: rows, and what its axes and colours stand for."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

AXES = ("x", "y")
COLOURS = ("color", "fill", "stroke", "shape")
_OF_AXIS = {"x": ("x", "x2"), "y": ("y", "y2")}

Row = dict[str, Any]


@dataclass(frozen=True)
class ChartData:
    """A chart of one view or of layers over each other."""

    spec: dict[str, Any]

    @classmethod
    def of(cls, spec: str) -> "ChartData":
        """Raises ValueError: it is no JSON object."""
        read = json.loads(spec)
        if not isinstance(read, dict):
            raise ValueError("a chart is a JSON object")
        return cls(read)

    @cached_property
    def layers(self) -> list[dict[str, Any]]:
        return list(self.spec.get("layer") or [self.spec])

    def rows_of(self, layer: dict[str, Any]) -> list[Row]:
        data = layer.get("data") or self.spec.get("data") or {}
        named = self.spec.get("datasets", {}).get(data.get("name"), [])
        return [row for row in data.get("values", named) if isinstance(row, dict)]

    @cached_property
    def rows(self) -> list[Row]:
        """Every row that is drawn, each once."""
        found = {json.dumps(row, sort_keys=True): row for row in self._all_rows()}
        return list(found.values())

    def _all_rows(self) -> Iterator[Row]:
        for layer in self.layers:
            yield from self.rows_of(layer)

    def channels(self, *names: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Layers that encode any of these channels, each with how."""
        for layer in self.layers:
            for name in names:
                encoding = {**self.spec.get("encoding", {}), **layer.get("encoding", {})}
                if "field" in encoding.get(name, {}):
                    yield layer, encoding[name]

    def values(self, *names: str) -> list[Any]:
        """What these channels show, row by row; rows without a value apart."""
        found = (
            row.get(how["field"])
            for layer, how in self.channels(*names)
            for row in self.rows_of(layer)
        )
        return [value for value in found if value is not None]

    def fields(self, axis: str) -> list[str]:
        return list(dict.fromkeys(how["field"] for _, how in self.channels(*_OF_AXIS[axis])))

    def titles(self, axis: str) -> list[str]:
        """What the axis is called; a field without a title of its own is called by its name."""
        told = (how.get("title", how["field"]) for _, how in self.channels(axis))
        return list(dict.fromkeys((each or "").strip() for each in told))

    def is_measured(self, axis: str) -> bool:
        return any(how.get("type") == "quantitative" for _, how in self.channels(axis))

    def on_axis(self, axis: str) -> list[Any]:
        return self.values(*_OF_AXIS[axis])
