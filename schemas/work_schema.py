"""Schema of a kind of work: its unit, tables and jobs.

Schemas are declared in the modules of `schemas/works`, where they are discovered.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from schemas.base import Noun
from schemas.columns import Column, ColumnType, Table, columns_of
from schemas.people.ledger import Artefact
from schemas.reasons import About, Reason
from schemas.run import WorkHead

NounT = TypeVar("NounT", bound=Noun)
HeadT = TypeVar("HeadT", bound=WorkHead)

RUN_ID = Column("run_id", ColumnType.STRING, "The run the row belongs to.")
POSITION = Column("position", ColumnType.INTEGER, "Order of the row, from 0.", minimum=0)
_LANDING_SHA256 = Column(
    "landing_sha256",
    ColumnType.STRING,
    "Hash of the published content; if it is equal, nothing is published again.",
)
_PUBLISHED_AT = Column("published_at", ColumnType.TIMESTAMP, "When it entered the lake.")


def table_of(
    before: tuple[Column, ...],
    key: tuple[str, ...],
    name: str,
    noun: type[Noun],
    *own_key: str,
    more: tuple[Column, ...] = (),
    after: tuple[Column, ...] = (),
    without: Collection[str] = (),
    meaning: str = "",
    **kind: Any,
) -> Table:
    """Return the table of a noun: `before`, `more`, its remaining fields, `after`.

    `meaning` describes a row; by default the first line of the noun's docstring.
    """
    outer_columns = (*before, *more, *after)
    elsewhere = {column.name for column in outer_columns} | set(without)
    columns = (*before, *more, *columns_of(noun, without=elsewhere), *after)
    meaning = meaning or (noun.__doc__ or "").partition("\n")[0]
    return Table(name, meaning, noun, columns, (*key, *own_key), **kind)


def table_of_head(
    run_id: Column,
    name: str,
    noun: type[WorkHead],
    *own_key: str,
    last: tuple[Column, ...] = (),
    **more: Any,
) -> Table:
    """Return the table of a head, with its times after the hash."""
    times = columns_of(noun, "started_at", "finished_at")
    after = (*last, _LANDING_SHA256, *times, _PUBLISHED_AT)
    return table_of(
        (run_id,), ("run_id",), name, noun, *own_key, after=after, per_idea=False, **more
    )


def tables_of_unit(noun: type[Noun], name: str) -> Callable[..., Table]:
    """Return a constructor of tables for units `noun`, with `name` as the key field."""
    before = (RUN_ID, *columns_of(noun, name), POSITION)
    return partial(table_of, before, ("run_id", name), per_idea=False)


def reasons_of_unit(unit: Noun) -> Iterator[Reason | None]:
    """Yield the reasons why a unit, or a part of it, has no outcome.

    These are the unit's fields named `..._reason`, `unscored_reason` of its parts, and its failures
    except those of documents: such a unit is complete until the document is replaced.
    """
    for name, value in unit:
        if name.endswith("_reason") and isinstance(value, Reason):
            yield None if value.about is About.DOCUMENT else value
        elif name == "failures":
            yield from (each.reason for each in value if not each.is_of_a_document)
        elif isinstance(value, tuple):
            yield from (getattr(each, "unscored_reason", None) for each in value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkSchema(Generic[NounT, HeadT]):
    """Schema of a kind of work.

    Attributes:
        noun, head: models of a unit and of the head of a run, such as `SurveyHead`.
        tables: tables of the kind, the unit's first; calls, failures and edges have common ones.
        unit: word for a unit; empty: from the key column, `question` of `question_id`.
        artefact: kind of the results in the ledger.
    """

    noun: type[NounT]
    head: type[HeadT]
    tables: tuple[Table, ...]
    artefact: Artefact
    unit: str = ""

    @property
    def word(self) -> str:
        """Name in messages, of the landing folder, and of the table `<word>_runs`."""
        return self.head.__name__.removesuffix("Head").lower()

    @property
    def name_column(self) -> str:
        """Key column of the unit."""
        return self.tables[0].key[1]

    @property
    def unit_noun(self) -> str:
        """Return the word for one unit."""
        return self.unit or self.name_column.removesuffix("_id")

    @property
    def input_column(self) -> str:
        """Column of the unit's table with its input or its hash; empty: there is none."""
        names = ("content_sha256", self.unit_noun, "text")
        return next((name for name in names if name in self.noun.model_fields), "")

    @property
    def head_table(self) -> Table:
        """Table of heads, with one row for each run."""
        return table_of_head(RUN_ID, f"{self.word}_runs", self.head)
