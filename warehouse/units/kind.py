"""A kind of work: what its units are, where they land, which tables they fill, what must hold.

A run of ideas, a ranking, a check of manuscripts, a curated set, an experiment and a benchmark are
such kinds; `warehouse/kinds/registry.py` lists them. Landing, validation, publication and verification are
written once, over a `Kind`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from schemas.columns import Table
from schemas.identifiers import RunId, content_hash
from schemas.people.ledger import Artefact
from schemas.run import UnitReceipt, WorkHead
from schemas.tables import TABLE
from warehouse.layout import Layout, safe_name
from warehouse.rows import Row, Rows
from warehouse.validate.violations import ExpectationResult

if TYPE_CHECKING:  # workers land without the database
    import duckdb

ReceiptT = TypeVar("ReceiptT", bound=UnitReceipt)
HeadT = TypeVar("HeadT", bound=WorkHead)


def _nothing(*_: object) -> None:
    return None


def _as_it_is(head: Any, _receipts: Sequence[Any]) -> Any:
    return head


def _no_columns(_: object) -> Row:
    return {}


def _no_results(_: object) -> Sequence[ExpectationResult]:
    return ()


@dataclass(frozen=True, slots=True)
class Given:
    """What a unit is given, by the columns of the table that hold it.

    Attributes:
        word: what inputs call it.
        artefact: as which it stands in the ledger itself; None: it is an input only.
    """

    word: str
    table: str
    columns: tuple[str, ...]
    artefact: Artefact | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[ReceiptT, HeadT]):
    """The declaration of a kind.

    One piece of work of a kind is named by the values of its `ids`, in order: `names` below.

    Attributes:
        folders: the folders it lies in, outermost first, each with the id that it bears. The word
            of the last one is what messages call the kind.
        unit: word of a unit's folder and the column of its name; None: the work is one unit.
        unit_is_hashed: whether a hash stands for the unit's name, since the user chose it.
        head_table: the table with one row for each piece of work.
        tables: those that units land.
        checks: the folder of its rules in `sql/`, and the table whose rows they judge.
        artefact: what the ledger calls what its steps make, and the column that tells one from
            another; empty: there is one.
        given: what its units are given; None: what their work rests on is named by the head.
        has_head_file: whether `<word>.json` says, written last, that every unit has landed.
        loose_files: files beside the units whose rows are published too, by table.
        loose_rows: SQL that holds for the rows of loose files, and not of units, by table.
        unit_column: by which the rows of a unit are known in every one of `tables`; with one, the
            files of a complete unit may go once the lake holds their rows.
        outlives_its_publication: whether it may rightly lie in landing unpublished.
        totals: what a receipt says of its rows beside their numbers; of it, what has a column in
            the table of what the unit is given stands there too.
        head_columns: what the row of `head_table` holds beside the fields of the head.
        concluded: the head as all receipts together tell; publishing begins with it.
        receipt_rules: results of rules that only all receipts together can break.
        refuse: raises PublicationError when the lake no longer holds what the work rests on.
        settle: what else publishing it changes, within the transaction.
        announce: what is noted of a unit before its receipt is there.
    """

    folders: Mapping[str, str]
    unit: tuple[str, str] | None
    receipt: type[ReceiptT]
    head: type[HeadT]
    head_table: str
    tables: tuple[str, ...]
    checks: tuple[str, str]
    artefact: tuple[Artefact, str]
    given: Given | None = None
    unit_is_hashed: bool = False
    has_head_file: bool = False
    loose_files: Mapping[str, str] = field(default_factory=dict)
    loose_rows: Mapping[str, str] = field(default_factory=dict)
    unit_column: str = ""
    outlives_its_publication: bool = False
    totals: Callable[[Rows], dict[str, Any]] = _no_columns
    head_columns: Callable[[HeadT], Row] = _no_columns
    concluded: Callable[[HeadT, Sequence[ReceiptT]], HeadT] = _as_it_is
    receipt_rules: Callable[[Sequence[ReceiptT]], Sequence[ExpectationResult]] = _no_results
    refuse: "Callable[[duckdb.DuckDBPyConnection, HeadT], None]" = _nothing
    settle: "Callable[[duckdb.DuckDBPyConnection, HeadT], None]" = _nothing
    announce: Callable[[Layout, ReceiptT], None] = _nothing

    @property
    def word(self) -> str:
        return list(self.folders)[-1]

    @property
    def remedy(self) -> str:
        """What to do about a receipt or head that cannot be read."""
        return f"remove its folder and run the command of the {self.word} again"

    @property
    def ids(self) -> tuple[str, ...]:
        """Key columns of one piece of work, and fields of its receipts and its head."""
        return tuple(self.folders.values())

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
        """What messages call it: `ranking ranking-4f2a`."""
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
        """Landing folder of a unit, whose name comes last; where the work is one unit, its own."""
        if self.unit is None:
            return self.folder(layout, *names)
        word, unit = self.unit[0], names[-1]
        name = content_hash(unit, length=16) if self.unit_is_hashed else safe_name(word, unit)
        return self.folder(layout, *names[:-1]) / f"{word}={name}"

    def unit_path(self, layout: Layout, *names: str) -> str:
        """Return the unit's folder within landing, under which its calls are journalled."""
        return self.unit_folder(layout, *names).relative_to(layout.landing).as_posix()

    def folder_of(self, layout: Layout, receipt: ReceiptT) -> Path:
        """Landing folder of the unit that a receipt is of."""
        unit = () if self.unit is None else (receipt.unit,)
        return self.unit_folder(layout, *self.names(receipt), *unit)

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
