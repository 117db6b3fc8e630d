"""Read-only lake answers for pages, cached until the next publication."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

import polars

from schemas.identifiers import RunId
from schemas.run import Run
from schemas.settings import Settings
from warehouse.console.console import run_sql_with_names
from warehouse.lake_reader import LakeReader
from warehouse.progress import RunProgress, Watch
from warehouse.queries import Queries
from warehouse.units.kind import HeadT, Kind, UnitT
from warehouse.units.published_work import published_heads, published_kind, published_units
from warehouse.warehouse import Warehouse

ParametersT = ParamSpec("ParametersT")
AnswerT = TypeVar("AnswerT")

_CACHED_ANSWERS, _CACHED_CONSOLE_ANSWERS, _OPEN_LAKES = 300, 10, 4


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of an SQL statement and its run time."""

    frame: polars.DataFrame
    seconds: float


@dataclass(frozen=True, slots=True)
class Lake:
    """One warehouse, opened read-only while runs may be writing.

    Every method raises ConfigurationError if there is no lake.

    Attributes:
        prices: model prices, a file in LiteLLM's format.
        version: the snapshot to read; None: the newest, looked up for every query.
    """

    warehouse: Warehouse
    prices: Path | None = None
    version: str | None = None

    def at_current_snapshot(self) -> "Lake":
        """Return the lake at one snapshot, so that a page's figures are consistent."""
        return replace(self, version=self.snapshot()) if self.exists else self

    @property
    def exists(self) -> bool:
        """True if anything was ever published here."""
        return self.warehouse.may_hold_a_lake()

    def snapshot(self) -> str:
        """Return an identifier that changes with every publication."""
        return self._reading().snapshot() if self.version is None else self.version

    def ask(
        self,
        question: Callable[Concatenate[Queries, ParametersT], AnswerT],
        *args: ParametersT.args,
        **kwargs: ParametersT.kwargs,
    ) -> AnswerT:
        """Return `question(queries, …)`, cached: `lake.ask(Queries.ranking, run_id)`.

        `question` must be a named function and return a value, not an iterator.
        """
        sorted_kwargs = tuple(sorted(kwargs.items()))
        answer: AnswerT = _cached_answer(
            _LakeQuery(self, self.snapshot(), question, args, sorted_kwargs)
        )
        return answer

    def ask_warehouse(self, question: Callable[..., AnswerT], *args: object) -> AnswerT:
        """Return `question(warehouse, …)`, cached; for views that open the lake themselves."""
        query = _LakeQuery(self, self.snapshot(), question, args, of_queries=False)
        answer: AnswerT = _cached_answer(query)
        return answer

    def frame(self, name: str, **parameters: object) -> polars.DataFrame:
        """Return the rows of `sql/pages/<name>.sql`, cached.

        Readers share the frame: never change it in place.
        """
        return self.ask(_frame, name, **parameters)

    def sql(self, statement: str, *, timeout_seconds: float, maximum_rows: int) -> Answer:
        """Run a reader's SELECT, cached. An empty result keeps its columns.

        Raises:
            SqlError: the statement is wrong.
            ConfigurationError: it is not a SELECT, takes too long, or returns too much.
        """
        args = (statement, timeout_seconds, maximum_rows)
        answer: Answer = _cached_console_answer(
            _LakeQuery(self, self.snapshot(), run_sql_with_names, args)
        )
        return answer

    def runs(self) -> tuple[Run, ...]:
        """Return the published runs, newest first; empty without a lake."""
        return self.ask(Queries.list_runs) if self.exists else ()

    def under_way(self) -> tuple[RunProgress, ...]:
        """Return the runs that are not completely published, newest first."""
        finish_times = {RunId(run.run_id): run.finished_at for run in self.runs()}
        return self.watch.progress(finish_times)

    @property
    def watch(self) -> Watch:
        """Progress of runs; it reads each receipt once."""
        return _watch(self.warehouse)

    def heads(self, kind: Kind[Any, Any, HeadT]) -> dict[str, HeadT]:
        """Return the published heads of a kind by run_id, newest first.

        Empty without a lake.
        """
        heads = self.ask(_heads, kind) if self.exists else ()
        return {str(head.run_id): head for head in heads}

    def kind(self, run_id: RunId) -> Kind[Any, Any, Any]:
        """Return the kind of published work; raise UnknownNameError if there is none."""
        return self.ask(_kind, run_id)

    def units(self, kind: Kind[UnitT, Any, Any], run_id: RunId) -> tuple[UnitT, ...]:
        """Return the published units of a run, ordered by name."""
        return self.ask(_units, kind, run_id)

    @contextmanager
    def queries(self) -> Iterator[Queries]:
        """Open the read API without a cache, for queries that do not repeat."""
        with self._reading().queries() as queries:
            yield queries

    def _reading(self) -> LakeReader:
        # A new catalogue file under the same name is another lake.
        is_file = self.warehouse.postgres is None and self.exists
        inode = str(self.warehouse.catalogue.stat().st_ino) if is_file else ""
        reading: LakeReader = _open_reading(_LakeQuery(self, inode, LakeReader))
        return reading


@dataclass(frozen=True, slots=True, eq=False)
class _LakeQuery:
    """Cache key: a query to one version of a lake. Equal keys are equal queries.

    Attributes:
        of_queries: whether the question is of the queries, or of the warehouse.
    """

    lake: Lake
    version: str
    question: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    of_queries: bool = True

    @property
    def key(self) -> str:
        """The key, without the catalogue's address, which may contain a password."""
        name = self.question.__module__, self.question.__qualname__
        assert "<" not in name[1], "two questions of one name would have one answer"
        return repr((str(self.lake.warehouse.root), self.version, name, self.args, self.kwargs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _LakeQuery) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def open_lake(settings: Settings) -> Lake:
    """Open the warehouse of the settings."""
    return Lake(
        Warehouse(settings.dashboard.warehouse.resolve(), settings),
        prices=settings.dashboard.prices,
    )


def clear_cached_answers() -> None:
    """Clear the caches, to measure uncached queries."""
    _cached_answer.cache_clear()
    _cached_console_answer.cache_clear()


def _heads(queries: Queries, kind: Kind[Any, Any, HeadT]) -> tuple[HeadT, ...]:
    return published_heads(queries.connection, kind)


def _kind(queries: Queries, run_id: RunId) -> Kind[Any, Any, Any]:
    return published_kind(queries.connection, run_id)


def _units(queries: Queries, kind: Kind[UnitT, Any, Any], run_id: RunId) -> tuple[UnitT, ...]:
    return published_units(queries.connection, kind, run_id)


def _frame(queries: Queries, name: str, /, **parameters: object) -> polars.DataFrame:
    return queries.page_frame(name, **parameters)


@lru_cache(_OPEN_LAKES)
def _watch(warehouse: Warehouse) -> Watch:
    return Watch(warehouse)


@lru_cache(_OPEN_LAKES)
def _open_reading(query: _LakeQuery) -> LakeReader:
    return LakeReader(query.lake.warehouse)


@lru_cache(_CACHED_ANSWERS)
def _cached_answer(query: _LakeQuery) -> Any:
    if not query.of_queries:
        return query.question(query.lake.warehouse, *query.args)
    with query.lake.queries() as queries:
        return query.question(queries, *query.args, **dict(query.kwargs))


@lru_cache(_CACHED_CONSOLE_ANSWERS)
def _cached_console_answer(query: _LakeQuery) -> Answer:
    statement, timeout_seconds, maximum_rows = query.args
    began = perf_counter()
    names, rows = run_sql_with_names(
        query.lake.warehouse, statement, timeout_seconds=timeout_seconds, maximum_rows=maximum_rows
    )
    seconds = perf_counter() - began
    if not rows:
        return Answer(polars.DataFrame(schema=dict.fromkeys(names, polars.String)), seconds)
    return Answer(polars.DataFrame(rows, infer_schema_length=None, strict=False), seconds)
