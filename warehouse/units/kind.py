"""A kind of work as the lake knows it: what a unit is, where it lands, which tables it fills.

`warehouse/kinds/registry.py` lists the kinds. Landing, validation, publication and verification are
written once, over a `Kind`.
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
from schemas.work_schema import WorkSchema
from warehouse.layout import Layout, file_name, safe_name
from warehouse.rows import Row, Rows, nouns_in
from warehouse.statements import table_statement

if TYPE_CHECKING:  # workers land without the database
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
    """A field that holds one noun or many, or the unit itself, and the table of their rows.

    Attributes:
        path: the field, behind the one that holds the noun whose field it is; empty: the unit.
        single: whether it holds one noun, or None.
        shared: whether other fields have rows in the table too.
    """

    path: tuple[str, ...]
    table: str
    noun: type[Noun]
    single: bool
    shared: bool = False

    def nouns(self, unit: Noun) -> Sequence[Noun]:
        held: Any = unit
        for name in self.path:
            held = getattr(held, name) if held is not None else None
        if held is None:
            return ()
        return (held,) if self.single else held


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[UnitT, ReceiptT, HeadT]):
    """The declaration of a kind.

    A unit is one noun. The table whose rows are nouns of its type holds the unit; every other one
    holds the field that is called like it, or whose nouns are of the type of its rows. One piece of
    work of a kind is named by the values of its `ids`, in order: `names` below.

    Attributes:
        folders: the folders it lies in, outermost first, each with the id that it bears. The word
            of the last one is what messages call the kind, and the ledger the recorder of its
            failures.
        unit: word of a unit and the column of its name.
        noun, receipt, head: what a unit is, what is written last of it, and what of the work.
        tables: those that units land; the first one is what its rules judge.
        artefact: what the ledger calls what its steps make.
        given: the columns of the unit's own table that say what it was given; empty: what the work
            rests on is named by the head.
        reasons: why parts of a unit have no answer; one that may pass leaves it to be done again.
            Of units that have no `incomplete_reason` of their own.
        beside: tables whose rows are also published from a file beside the units, with the SQL that
            holds for these rows and for none of a unit.
        unit_column: by which the rows of a unit are known in every one of `tables`; with one, a
            value belongs to one unit, and the files of a complete unit may go once the lake holds
            their rows.
        totals: what a receipt says of its rows beside their numbers; what has a column in the
            unit's own table stands there too.
        settle: what else publishing changes, within the transaction; raises PublicationError when
            the lake no longer holds what the work rests on.
    """

    folders: Mapping[str, str]
    unit: tuple[str, str]
    noun: type[UnitT]
    head: type[HeadT]
    receipt: type[ReceiptT]
    tables: tuple[str, ...]
    artefact: Artefact
    given: tuple[str, ...] = ()
    reasons: Callable[[UnitT], Iterable[Reason | None]] = _no_reasons
    beside: Mapping[str, str] = field(default_factory=dict)
    unit_column: str = ""
    totals: Callable[[Rows], dict[str, Any]] = _no_columns
    settle: "Callable[[Connection, HeadT], None]" = _nothing

    @property
    def word(self) -> str:
        return list(self.folders)[-1]

    @property
    def remedy(self) -> str:
        """Return what to do about a receipt or head that cannot be read."""
        return f"remove its folder and run the command of the {self.word} again"

    @property
    def ids(self) -> tuple[str, ...]:
        """Key columns of one piece of work, and fields of its receipts and its head."""
        return tuple(self.folders.values())

    @property
    def is_within_another(self) -> bool:
        """Return whether it lies within another work, and may rightly stay there unpublished."""
        return len(self.folders) > 1

    @property
    def unit_noun(self) -> str:
        """Return what one unit is called."""
        return self.unit[0]

    @property
    def name_column(self) -> str:
        """The column of its tables that names the unit."""
        return self.unit[1]

    @property
    def known_by(self) -> str:
        """The column by which calls, failures and the ledger know a unit."""
        return self.unit_column or self.name_column

    @property
    def parts(self) -> tuple[Part, ...]:
        """The unit, and every field of it and of the nouns it holds, as far as it has a table."""
        return _parts(self)

    @property
    def own_table(self) -> str | None:
        """The table with one row for each unit; None where a unit is no more than its parts."""
        single = (part.table for part in self.parts if part.single and not part.path[1:])
        return next(single, None)

    @property
    def head_table(self) -> str:
        """The table with one row for each piece of work."""
        return _table_of(self.head)

    @property
    def published_tables(self) -> tuple[Table, ...]:
        """Every table that publishing it fills."""
        return tuple(TABLE[name] for name in (*self.tables, self.head_table, "validations"))

    def names(self, noun: ReceiptT | HeadT) -> tuple[str, ...]:
        """The names of what a receipt or head belongs to."""
        return tuple(getattr(noun, name) for name in self.ids)

    def run_id(self, *names: str) -> RunId:
        return RunId(names[0])

    def titled(self, *names: str) -> str:
        """Return what messages call it: `ranking ranking-4f2a`."""
        return f"{self.word} {names[-1]}"

    def folder(self, layout: Layout, *names: str) -> Path:
        """Landing folder; with fewer names than ids the folder around it.

        Raises:
            ConfigurationError: a name cannot name a folder.
        """
        folder = layout.landing
        for word, name in zip(self.folders, names, strict=False):
            folder /= f"{word}={safe_name(word, name)}"
        return folder

    def unit_folder(self, layout: Layout, *names: str) -> Path:
        """Landing folder of a unit, whose name comes last."""
        name = file_name(names[-1], self.unit_noun)
        return self.folder(layout, *names[:-1]) / f"{self.unit_noun}={name}"

    def unit_path(self, layout: Layout, *names: str) -> str:
        """Return the unit's folder within landing, under which its calls are journalled."""
        return self.unit_folder(layout, *names).relative_to(layout.landing).as_posix()

    def folder_of(self, layout: Layout, receipt: ReceiptT) -> Path:
        """Landing folder of the unit that a receipt is of."""
        return self.unit_folder(layout, *self.names(receipt), receipt.unit)

    def head_file(self, layout: Layout, *names: str) -> Path:
        """Written when every unit has landed."""
        return self.folder(layout, *names) / f"{self.word}.json"

    def validation_file(self, layout: Layout, *names: str) -> Path:
        """The last validation result."""
        return self.folder(layout, *names) / "validation.json"

    def condition(self, table: Table, *, several: bool = False) -> str:
        """SQL that holds for the rows of one piece of work, whose names are the parameters `ids`.

        Tables such as `llm_calls` hold the rows of a run and those of its rankings side by side.

        Args:
            several: whether each parameter is the list of the names of several works.
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
    """The names of what is published of a kind; `condition`: SQL, on their heads."""
    columns, table = ", ".join(kind.ids), kind.head_table
    sql = table_statement("published_names", table=table, columns=columns, condition=condition)
    return connection.execute(sql, parameters).fetchall()


_OF_ALL_KINDS = ("citation_edges", "llm_calls", "api_calls", "failures")
"""Tables in which rows of every kind lie side by side."""


def kind_of(schema: WorkSchema[UnitT, HeadT]) -> Kind[UnitT, UnitReceipt, HeadT]:
    """Return how a declared kind lies in the lake: each unit a folder, each run a head."""
    return _kind_of(schema)


@cache
def _kind_of(schema: WorkSchema[Any, Any]) -> Kind[Any, UnitReceipt, Any]:
    held = {get_args(field.annotation)[:1] for field in schema.noun.model_fields.values()}
    return Kind(
        folders={schema.word: "run_id"},
        unit=(schema.unit_noun, schema.name_column),
        noun=schema.noun,
        head=schema.head,
        receipt=UnitReceipt,
        tables=(
            *(table.name for table in schema.tables),
            *(name for name in _OF_ALL_KINDS if (TABLE[name].noun,) in held),
        ),
        artefact=schema.artefact,
        given=schema.given,
        reasons=schema.reasons,
    )


@cache
def _table_of(head: type[Noun]) -> str:
    return next(name for name, table in TABLE.items() if table.noun is head)


@cache
def _parts(kind: Kind) -> tuple[Part, ...]:
    parts = tuple(_within(kind.noun, kind.tables, ()))
    shared = Counter(part.table for part in parts)
    return tuple(part._replace(shared=shared[part.table] > 1) for part in parts)


def _within(noun: type[Noun], names: Sequence[str], path: tuple[str, ...]) -> Iterator[Part]:
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
            yield from _within(inner, names, (*path, name))
