"""Declaration of a kind of work: its units, landing folders and tables.

`warehouse/kinds/registry.py` lists the kinds. Landing, validation, publication and verification are
generic over `Kind`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, get_args, get_origin

from typing_extensions import TypeVar

from schemas.base import Noun
from schemas.columns import Table
from schemas.identifiers import RunId
from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt, WorkHead
from schemas.tables import TABLE
from schemas.work_schema import WorkSchema, reasons_of_unit
from warehouse.layout import Layout, file_name, safe_name
from warehouse.rows import Row, Rows, nouns_in
from warehouse.statements import table_statement

if TYPE_CHECKING:  # workers need no database
    from warehouse.catalogue.connection import Connection

UnitT = TypeVar("UnitT", bound=Noun, default=Any)
ReceiptT = TypeVar("ReceiptT", bound=UnitReceipt, default=Any)
HeadT = TypeVar("HeadT", bound=WorkHead, default=Any)


def _nothing(*_: object) -> None:
    return None


def _no_columns(_: object) -> Row:
    return {}


def _no_reasons(_: object) -> Iterable[Reason | None]:
    return ()


class Part(NamedTuple):
    """A field with nouns, or the unit itself, and the table of their rows.

    Attributes:
        path: names of the field and its outer fields; empty: the unit.
        single: whether it holds one noun, or None.
        shared: whether other fields have rows in the same table.
    """

    path: tuple[str, ...]
    table: str
    noun: type[Noun]
    single: bool
    shared: bool = False

    def nouns(self, unit: Noun) -> Sequence[Noun]:
        value: Any = unit
        for name in self.path:
            value = getattr(value, name) if value is not None else None
        if value is None:
            return ()
        return (value,) if self.single else value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[UnitT, ReceiptT, HeadT]):
    """Declaration of a kind of work.

    A unit is one noun. Its table is the one whose rows are nouns of its type; every other table
    holds the field of the same name, or the field whose nouns are of its type. A work is identified
    by the values of its `ids`, in order: `names` below.

    Attributes:
        folders: landing folders, outermost first, each with the id in its name. The word of the
            last one names the kind in messages, and is the recorder of its failures.
        unit: word for a unit, and the column with its name.
        noun, receipt, head: types of a unit, of its receipt and of the work's head.
        tables: tables of units; rules apply to the first.
        artefact: type of its results in the ledger.
        input_columns: input columns of the unit's table; empty: the head names the inputs.
        reasons: reasons for missing parts of a unit; a transient one makes the unit incomplete. For
            units without an `incomplete_reason` field.
        extra_tables: tables with additional rows in a file of the work, with an SQL condition
            that holds only for these rows.
        unit_column: column of every table that identifies the unit; if set, each value belongs to
            one unit, and landed files of complete units can be evicted.
        totals: further values of a receipt, which are also stored in columns of the unit's table.
        settle: further changes in the publishing transaction; raises PublicationError if an input
            of the work has changed.
    """

    folders: Mapping[str, str]
    unit: tuple[str, str]
    noun: type[UnitT]
    head: type[HeadT]
    receipt: type[ReceiptT]
    tables: tuple[str, ...]
    artefact: Artefact
    input_columns: tuple[str, ...] = ()
    reasons: Callable[[UnitT], Iterable[Reason | None]] = _no_reasons
    extra_tables: Mapping[str, str] = field(default_factory=dict)
    unit_column: str = ""
    totals: Callable[[Rows], dict[str, Any]] = _no_columns
    settle: "Callable[[Connection, HeadT], None]" = _nothing

    @property
    def word(self) -> str:
        return list(self.folders)[-1]

    @property
    def remedy(self) -> str:
        """Remedy for a receipt or head that cannot be read."""
        return f"remove its folder and run the command of the {self.word} again"

    @property
    def ids(self) -> tuple[str, ...]:
        """Key columns of a work, and fields of its receipts and head."""
        return tuple(self.folders.values())

    @property
    def is_nested(self) -> bool:
        """Return whether it belongs to another work, and may stay unpublished."""
        return len(self.folders) > 1

    @property
    def unit_noun(self) -> str:
        return self.unit[0]

    @property
    def name_column(self) -> str:
        """Column with the unit's name."""
        return self.unit[1]

    @property
    def identity_column(self) -> str:
        """Column that identifies a unit in calls, failures and the ledger."""
        return self.unit_column or self.name_column

    @property
    def parts(self) -> tuple[Part, ...]:
        """The unit, and all fields of it and its inner nouns that have a table."""
        return _parts(self)

    @property
    def unit_table(self) -> str | None:
        """Table with one row per unit; None if a unit has only parts."""
        single = (part.table for part in self.parts if part.single and not part.path[1:])
        return next(single, None)

    @property
    def head_table(self) -> str:
        return _table_of(self.head)

    @property
    def published_tables(self) -> tuple[Table, ...]:
        return tuple(TABLE[name] for name in (*self.tables, self.head_table, "validations"))

    def names(self, noun: ReceiptT | HeadT) -> tuple[str, ...]:
        """Return the names of the work of a receipt or head."""
        return tuple(getattr(noun, name) for name in self.ids)

    def run_id(self, *names: str) -> RunId:
        return RunId(names[0])

    def title(self, *names: str) -> str:
        """Return its title for messages, such as `ranking ranking-4f2a`."""
        return f"{self.word} {names[-1]}"

    def folder(self, layout: Layout, *names: str) -> Path:
        """Return the landing folder; with fewer names than ids an outer folder.

        Raises:
            ConfigurationError: a name cannot name a folder.
        """
        folder = layout.landing
        for word, name in zip(self.folders, names, strict=False):
            folder /= f"{word}={safe_name(word, name)}"
        return folder

    def unit_folder(self, layout: Layout, *names: str) -> Path:
        """Return the landing folder of a unit, whose name comes last."""
        name = file_name(names[-1], self.unit_noun)
        return self.folder(layout, *names[:-1]) / f"{self.unit_noun}={name}"

    def unit_path(self, layout: Layout, *names: str) -> str:
        """Return the unit's path within landing, which identifies its journalled calls."""
        return self.unit_folder(layout, *names).relative_to(layout.landing).as_posix()

    def folder_of(self, layout: Layout, receipt: ReceiptT) -> Path:
        return self.unit_folder(layout, *self.names(receipt), receipt.unit)

    def head_file(self, layout: Layout, *names: str) -> Path:
        """Return the file of the head, written when every unit has landed."""
        return self.folder(layout, *names) / f"{self.word}.json"

    def validation_file(self, layout: Layout, *names: str) -> Path:
        return self.folder(layout, *names) / "validation.json"

    def condition(self, table: Table, *, several: bool = False) -> str:
        """Return SQL that selects the rows of a work by the parameters `ids`.

        Tables such as `llm_calls` contain rows of a run and of its rankings.

        Args:
            several: whether each parameter is a list, for several works.
        """
        if several:
            columns, lists = ", ".join(self.ids), ", ".join(f"unnest(${name})" for name in self.ids)
            parts = [f"({columns}) in (select {lists})"]
        else:
            parts = [f'"{name}" = ${name}' for name in self.ids]
        if "ranking_id" in table.column_names and "ranking_id" not in self.ids:
            parts.append("ranking_id is null")
        return " and ".join(parts)

    def parameters(self, *names: str) -> dict[str, str]:
        return dict(zip(self.ids, names, strict=True))


def published_names(
    connection: "Connection", kind: Kind, condition: str = "true", **parameters: object
) -> list[tuple[str, ...]]:
    """Return the names of published works; `condition`: SQL on their heads."""
    columns, table = ", ".join(kind.ids), kind.head_table
    sql = table_statement("published_names", table=table, columns=columns, condition=condition)
    return connection.execute(sql, parameters).fetchall()


_OF_ALL_KINDS = ("citation_edges", "llm_calls", "api_calls", "failures")
"""Tables with rows of all kinds."""


def kind_of(schema: WorkSchema[UnitT, HeadT]) -> Kind[UnitT, UnitReceipt, HeadT]:
    """Return the landing and tables of a declared kind."""
    return _kind_of(schema)


@cache
def _kind_of(schema: WorkSchema[Any, Any]) -> Kind[Any, UnitReceipt, Any]:
    item_types = {get_args(field.annotation)[:1] for field in schema.noun.model_fields.values()}
    return Kind(
        folders={schema.word: "run_id"},
        unit=(schema.unit_noun, schema.name_column),
        noun=schema.noun,
        head=schema.head,
        receipt=UnitReceipt,
        tables=(
            *(table.name for table in schema.tables),
            *(name for name in _OF_ALL_KINDS if (TABLE[name].noun,) in item_types),
        ),
        artefact=schema.artefact,
        input_columns=tuple(filter(None, (schema.input_column,))),
        reasons=reasons_of_unit,
    )


@cache
def _table_of(head: type[Noun]) -> str:
    return next(name for name, table in TABLE.items() if table.noun is head)


@cache
def _parts(kind: Kind) -> tuple[Part, ...]:
    parts = tuple(_find_parts(kind.noun, kind.tables, ()))
    table_counts = Counter(part.table for part in parts)
    return tuple(part._replace(shared=table_counts[part.table] > 1) for part in parts)


def _find_parts(noun: type[Noun], names: Sequence[str], path: tuple[str, ...]) -> Iterator[Part]:
    tables = {TABLE[name].noun: name for name in names}
    if noun in tables:
        yield Part(path, tables[noun], noun, single=True)
    for name, info in noun.model_fields.items():
        many = get_origin(info.annotation) is tuple
        inner = get_args(info.annotation)[0] if many else nouns_in(noun).get(name)
        if many and inner in tables:
            table = name if name in names and TABLE[name].noun is inner else tables[inner]
            yield Part((*path, name), table, inner, single=False)
        elif inner is not None and not many:
            yield from _find_parts(inner, names, (*path, name))
