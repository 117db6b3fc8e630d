"""What a kind of work lands and is asked for by: its unit, its tables, its jobs.

One stands in a module of `schemas/works` beside its nouns, where it is found by itself.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from schemas.base import Noun
from schemas.columns import Column, ColumnType, Table, columns_of
from schemas.failure import Failure
from schemas.people.ledger import Artefact
from schemas.people.work_job import WorkJob
from schemas.reasons import Reason
from schemas.run import WorkHead

NounT = TypeVar("NounT", bound=Noun)
HeadT = TypeVar("HeadT", bound=WorkHead)

RUN_ID = Column("run_id", ColumnType.STRING, "The run the row belongs to.")
POSITION = Column("position", ColumnType.INTEGER, "Order of the row, from 0.", minimum=0)
_LANDING_SHA256 = Column(
    "landing_sha256",
    ColumnType.STRING,
    "Hash over what was published; equal: nothing to publish anew.",
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
    """The table of a noun: `before`, `more`, its fields that none of the others names, `after`.

    `meaning` is what a row stands for, where the noun alone does not say it.
    """
    around = (*before, *more, *after)
    elsewhere = {column.name for column in around} | set(without)
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
    """The table of what is published whole: its times stand behind the hash over it."""
    times = columns_of(noun, "started_at", "finished_at")
    after = (*last, _LANDING_SHA256, *times, _PUBLISHED_AT)
    return table_of(
        (run_id,), ("run_id",), name, noun, *own_key, after=after, per_idea=False, **more
    )


def tables_of_unit(noun: type[Noun], name: str) -> Callable[..., Table]:
    """The tables of a kind whose units are `noun`, known by their field `name`."""
    before = (RUN_ID, *columns_of(noun, name), POSITION)
    return partial(table_of, before, ("run_id", name), per_idea=False)


def reasons_of_unit(unit: Any) -> Iterator[Reason | None]:
    """Return why a unit has no outcome, and why parts of its work failed."""
    yield getattr(unit, "unscored_reason", None)
    failures: tuple[Failure, ...] = getattr(unit, "failures", ())
    yield from (failure.reason for failure in failures)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkSchema(Generic[NounT, HeadT]):
    """Schema of a kind of work: what lands, and by what it is asked for.

    Attributes:
        word: what messages call a piece of work, and the ledger the recorder of its failures; its
            landing folder and `<word>_runs`, the table of its heads, are named by it.
        noun, head: what a unit is, and what is written of the whole work.
        tables: its own, of the unit first; calls, failures and edges lie in those of all kinds.
        unit: word of a unit; empty: as the column of its name has it, `question` of `question_id`.
        artefact: what the ledger calls what its steps make.
        given: the columns of the unit's own table that say what it was given.
        reasons: why parts of a unit have no answer; one that may pass leaves it to be done again.
        jobs: what programs send for each of its commands.
    """

    word: str
    noun: type[NounT]
    head: type[HeadT]
    tables: tuple[Table, ...]
    artefact: Artefact
    jobs: tuple[type[WorkJob], ...]
    unit: str = ""
    given: tuple[str, ...] = ()
    reasons: Callable[[NounT], Iterable[Reason | None]] = reasons_of_unit

    @property
    def name_column(self) -> str:
        """The column that names a unit."""
        return self.tables[0].key[1]

    @property
    def unit_noun(self) -> str:
        """Return what one unit is called."""
        return self.unit or self.name_column.removesuffix("_id")

    @property
    def head_table(self) -> Table:
        """The table with one row for each piece of work."""
        return table_of_head(RUN_ID, f"{self.word}_runs", self.head)
