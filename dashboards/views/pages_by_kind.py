"""Pages of published work by kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, get_type_hints

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.page import Page
from dashboards.render.prose import prose
from dashboards.views.published_page import PublishedPage
from schemas.base import Noun
from schemas.columns import Column, ColumnType
from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.tables import TABLE
from warehouse.units.kind import Kind, Part
from warehouse.units.landing import CALL_TABLES
from warehouse.units.published_work import published_head, published_kind, published_units
from warehouse.warehouse import Warehouse

_NUMBERS = (ColumnType.INTEGER, ColumnType.FLOAT)
_OF_THE_REASON = ("unscored_reason", "unscored_detail")


@dataclass(frozen=True)
class UnitsPage(PublishedPage):
    """All units of published work, shown by their columns."""

    kind: Kind[Any, Any, Any]
    head: Any
    nouns: tuple[Noun, ...]

    @property
    def units(self) -> tuple[Noun, ...]:
        return self.nouns

    @property
    def _parts(self) -> list[Part]:
        """The tables of a unit, without calls and failures."""
        excluded_tables = (*CALL_TABLES, "failures")
        return [part for part in self.kind.parts if part.path and part.table not in excluded_tables]

    def page(self) -> pg.Page:
        word = self.kind.word.capitalize()
        title = f"{word} of {figures.plural(len(self.nouns), self.kind.unit_noun)}"
        return pg.Page(pg.line(title), tuple(self._blocks()), f"{word} {self.head.run_id}")

    def _blocks(self) -> Iterator[pg.Block]:
        head = self.head
        yield pg.facts(pg.code(head.run_id), pg.line("engine ", pg.code(head.engine)))
        end_reason = getattr(head, "incomplete_reason", None)
        yield from map(pg.note, wording.banners(head.engine, "", incomplete_reason=end_reason))
        parts = (f"{_name(part)}:" for part in self._parts)
        columns = (self.kind.unit_noun.capitalize(), *parts, "Unscored because")
        yield pg.table(columns, map(self._row, self.nouns))
        for unit in self.nouns:
            yield from self._details(unit)

    def _row(self, unit: Any) -> Sequence[pg.Part]:
        reason = getattr(unit, "unscored_reason", None)
        counts = (figures.count(len(part.nouns(unit))) for part in self._parts)
        name = getattr(unit, self.kind.name_column)
        return (pg.code(name), *counts, "" if reason is None else wording.reason(reason))

    def _details(self, unit: Any) -> Iterator[pg.Block]:
        yield pg.heading(getattr(unit, self.kind.name_column))
        if getattr(unit, "unscored_reason", None) is not None:
            yield pg.note(f"{wording.reason(unit.unscored_reason)}: {unit.unscored_detail}")
        if self.kind.unit_table is not None:
            columns = _columns(type(unit), self.kind.unit_table, self.kind.name_column)
            short = (each for each in columns if each.type is not ColumnType.TEXT)
            yield pg.facts(*(f"{_words(each.name)} {_value(unit, each)}" for each in short))
            for each in (each for each in columns if each.type is ColumnType.TEXT):
                if getattr(unit, each.name):
                    yield pg.heading(_words(each.name), level=3)
                    yield from prose(getattr(unit, each.name))
        for part in self._parts:
            nouns = part.nouns(unit)
            if nouns:
                yield pg.heading(_name(part), level=3)
                columns = _columns(part.noun, part.table, self.kind.name_column)
                rows = ([_value(noun, each) for each in columns] for noun in nouns)
                yield pg.table(list(map(_heading, columns)), rows)
        failures = getattr(unit, "failures", ())
        yield from pg.bullets(f"{wording.reason(each.reason)}: {each.detail}" for each in failures)


def _columns(noun: type[Noun], table: str, name_column: str) -> list[Column]:
    """Return the columns to show: no name, hashes, provenance or reasons."""
    excluded_names = {name_column, *_OF_THE_REASON, *Provenance.model_fields}
    return [
        each
        for each in TABLE[table].columns
        if each.name in noun.model_fields.keys() - excluded_names
        and not each.name.endswith("_sha256")
    ]


def _name(part: Part) -> str:
    return _words(part.path[-1])


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _heading(column: Column) -> str:
    return f"{_words(column.name)}{':' if column.type in _NUMBERS else ''}"


def _value(noun: Noun, column: Column) -> str:
    value = getattr(noun, column.name)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return figures.count(value) if isinstance(value, int) else str(value)


def units_page(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> UnitsPage:
    """Return the page of published work; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, kind, run_id)
        return UnitsPage(kind, head, published_units(connection, kind, run_id))


def cites_works(kind: Kind[Any, Any, Any]) -> bool:
    """Return whether the page of a kind can be written as `.bib`."""
    page_function = _page_function(kind)
    return (
        page_function is not None
        and get_type_hints(page_function)["return"].bib is not PublishedPage.bib
    )


def page_of(kind: Kind[Any, Any, Any], warehouse: Warehouse, run_id: RunId) -> PublishedPage:
    """Return the page of published work; raise UnknownNameError without any."""
    page_function = _page_function(kind)
    return (
        units_page(kind, warehouse, run_id)
        if page_function is None
        else page_function(warehouse, run_id)
    )


def _page_function(kind: Kind[Any, Any, Any]) -> Callable[[Warehouse, RunId], PublishedPage] | None:
    """Return the kind's page function, imported at first use; None: it has none."""
    place = f"{__package__}.write_{kind.word}"
    if find_spec(place) is None:
        return None
    page: Callable[[Warehouse, RunId], PublishedPage] = resolve_name(f"{place}:{kind.word}_page")
    return page


def published_view(warehouse: Warehouse, run_id: RunId) -> Page:
    """Return the report of published work of any kind.

    Raises:
        ConfigurationError: the lake cannot be opened.
        UnknownNameError: there is no such lake, or nothing published under that name.
    """
    with warehouse.queries() as queries:
        kind = published_kind(queries.connection, run_id)
    return page_of(kind, warehouse, run_id).page()
