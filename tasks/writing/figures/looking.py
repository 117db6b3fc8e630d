"""What rules for figures look at: a figure with its picture, rows, boxes and claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from schemas.works.draft import DraftFigure, FigureKind, MethodGraph
from tasks.writing.figures.chart_data import ChartData
from tasks.writing.figures.pictures import Pixels, kept_png
from tasks.writing.figures.printed import Printed, printed
from tasks.writing.parsing import ClaimSeen, parse

SHOWN_CHARACTERS = 40
"""Of a label, in a line about it."""
Values = Mapping[str, float]
"""Numbers of the draft by the keys of their claims."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a figure, by the name of the rule it breaks."""

    rule: str
    said: str


@dataclass(frozen=True)
class Look:
    """A figure with all that rules look at."""

    figure: DraftFigure
    values: Values

    @cached_property
    def printed(self) -> Printed:
        return printed(self.figure.svg)

    @cached_property
    def chart(self) -> ChartData | None:
        is_chart = self.figure.kind is FigureKind.CHART
        return ChartData.of(self.figure.spec) if is_chart else None

    @cached_property
    def graph(self) -> MethodGraph | None:
        is_graph = self.figure.kind is FigureKind.GRAPH
        return MethodGraph.model_validate_json(self.figure.spec) if is_graph else None

    @cached_property
    def pixels(self) -> Pixels | None:
        is_picture = self.figure.kind is FigureKind.PICTURE
        return Pixels.of(kept_png(self.figure)) if is_picture else None

    @cached_property
    def caption_claims(self) -> tuple[ClaimSeen, ...]:
        return _claims_in(self.figure.caption)


@lru_cache(maxsize=256)
def _claims_in(caption: str) -> tuple[ClaimSeen, ...]:
    return tuple(seen for stretch in parse(caption).stretches for seen in stretch.claims)
