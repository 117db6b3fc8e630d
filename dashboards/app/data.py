"""The lake as pages see it: read-only answers, kept until something new is published."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

import polars

from dashboards.views.alarms import USUAL
from schemas.identifiers import RunId
from schemas.run import Run
from schemas.settings import AlarmSettings, Settings
from warehouse.console.console import run_sql_with_names
from warehouse.lake_reader import LakeReader
from warehouse.progress import RunProgress, Watch
from warehouse.queries import Queries
from warehouse.units.kind import HeadT, Kind, UnitT
from warehouse.units.published_work import published_heads, published_kind, published_units
from warehouse.warehouse import Warehouse

ParametersT = ParamSpec("ParametersT")
AnswerT = TypeVar("AnswerT")

_ANSWERS_KEPT, _CONSOLE_KEPT, _LAKES_OPEN = 300, 10, 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What the console answered, and how long that took."""

    frame: polars.DataFrame
    seconds: float


@dataclass(frozen=True, slots=True)
class Lake:
    """One warehouse, opened read-only; a run may be writing meanwhile.

    Every method raises ConfigurationError where there is no lake.

    Attributes:
        prices: prices of models, a file as LiteLLM ships it.
        thresholds: from where on there is an alarm.
        version: the snapshot that is read; None: the newest, looked up at every question.
    """

    warehouse: Warehouse
    prices: Path | None = None
    thresholds: AlarmSettings = USUAL
    version: str | None = None

    def as_it_is_now(self) -> "Lake":
        """The same lake for one page, whose figures then all belong together."""
        return replace(self, version=self.snapshot()) if self.exists else self

    @property
    def exists(self) -> bool:
        """Whether anything was ever published here."""
        return self.warehouse.may_hold_a_lake()

    def snapshot(self) -> str:
        """Changes whenever something is published."""
        return self._reading().snapshot() if self.version is None else self.version

    def ask(
        self,
        question: Callable[Concatenate[Queries, ParametersT], AnswerT],
        *args: ParametersT.args,
        **kwargs: ParametersT.kwargs,
    ) -> AnswerT:
        """`question(queries, …)`, cached.

        It must return a value, not an iterator, and be a function with a name.

        `lake.ask(Queries.ranking, run_id)`
        """
        asked = _Asked(self, self.snapshot(), question, args, tuple(sorted(kwargs.items())))
        answer: AnswerT = _answer(asked)
        return answer

    def ask_warehouse(self, question: Callable[..., AnswerT], *args: object) -> AnswerT:
        """`question(warehouse, …)`, cached; for views that open the lake by themselves."""
        answer: AnswerT = _answer_of_warehouse(_Asked(self, self.snapshot(), question, args))
        return answer

    def frame(self, name: str, **parameters: object) -> polars.DataFrame:
        """What `sql/pages/<name>.sql` answers, cached; shared between readers, so never to be
        changed in place.
        """
        return self.ask(_frame, name, **parameters)

    def sql(self, statement: str, *, timeout_seconds: float, maximum_rows: int) -> Answer:
        """What the console answers to a reader's SELECT, cached.

        An answer without rows has its columns. Raises SqlError where the statement is wrong, and
        ConfigurationError for anything but a SELECT, too slow or too long.
        """
        answer: Answer = _console(
            _Asked(
                self,
                self.snapshot(),
                run_sql_with_names,
                (statement, timeout_seconds, maximum_rows),
            )
        )
        return answer

    def runs(self) -> tuple[Run, ...]:
        """Published runs, newest first; empty where there is no lake."""
        return self.ask(Queries.list_runs) if self.exists else ()

    def under_way(self) -> tuple[RunProgress, ...]:
        """Runs that are not published as planned, newest first."""
        ended = {RunId(run.run_id): run.finished_at for run in self.runs()}
        return self.watch.progress(ended)

    @property
    def watch(self) -> Watch:
        """Progress of runs; receipts that were read once are not read again."""
        return _watch(self.warehouse)

    def heads(self, kind: Kind[Any, Any, HeadT]) -> dict[str, HeadT]:
        """What is published of a kind by its run_id, newest first; empty where there is no lake."""
        heads = self.ask(_heads, kind) if self.exists else ()
        return {str(head.run_id): head for head in heads}

    def kind(self, run_id: RunId) -> Kind[Any, Any, Any]:
        """The kind of what is published under a name; UnknownNameError: nothing is."""
        return self.ask(_kind, run_id)

    def units(self, kind: Kind[UnitT, Any, Any], run_id: RunId) -> tuple[UnitT, ...]:
        """Every published unit of a run, in the order of their names."""
        return self.ask(_units, kind, run_id)

    @contextmanager
    def queries(self) -> Iterator[Queries]:
        """The read API without a cache, for what is asked once."""
        with self._reading().queries() as queries:
            yield queries

    def _reading(self) -> LakeReader:
        reading: LakeReader = _opened(_Asked(self, _identity(self), LakeReader))
        return reading


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question to one version of a lake; two of the same key are one."""

    lake: Lake
    version: str
    question: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """Never holds the catalogue's address, which may hold a password."""
        name = self.question.__module__, self.question.__qualname__
        assert "<" not in name[1], "two questions of one name would have one answer"
        return repr((str(self.lake.warehouse.root), self.version, name, self.args, self.kwargs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def open_lake(settings: Settings) -> Lake:
    """The warehouse of the settings."""
    return Lake(
        Warehouse(settings.dashboard.warehouse.resolve(), settings),
        prices=settings.dashboard.prices,
        thresholds=settings.alarms,
    )


def forget_answers() -> None:
    """Have every question asked anew, for measuring what an answer takes."""
    for kept in (_answer, _answer_of_warehouse, _console):
        kept.cache_clear()


def _heads(queries: Queries, kind: Kind[Any, Any, HeadT]) -> tuple[HeadT, ...]:
    return published_heads(queries.connection, kind)


def _kind(queries: Queries, run_id: RunId) -> Kind[Any, Any, Any]:
    return published_kind(queries.connection, run_id)


def _units(queries: Queries, kind: Kind[UnitT, Any, Any], run_id: RunId) -> tuple[UnitT, ...]:
    return published_units(queries.connection, kind, run_id)


def _frame(queries: Queries, name: str, /, **parameters: object) -> polars.DataFrame:
    return queries.page_frame(name, **parameters)


def _identity(lake: Lake) -> str:
    """Another file under the same name is another lake."""
    return (
        str(lake.warehouse.catalogue.stat().st_ino)
        if lake.warehouse.postgres is None and lake.exists
        else ""
    )


@lru_cache(_LAKES_OPEN)
def _watch(warehouse: Warehouse) -> Watch:
    return Watch(warehouse)


@lru_cache(_LAKES_OPEN)
def _opened(asked: _Asked) -> LakeReader:
    return LakeReader(asked.lake.warehouse)


@lru_cache(_ANSWERS_KEPT)
def _answer(asked: _Asked) -> Any:
    with asked.lake.queries() as queries:
        return asked.question(queries, *asked.args, **dict(asked.kwargs))


@lru_cache(_ANSWERS_KEPT)
def _answer_of_warehouse(asked: _Asked) -> Any:
    return asked.question(asked.lake.warehouse, *asked.args)


@lru_cache(_CONSOLE_KEPT)
def _console(asked: _Asked) -> Answer:
    statement, timeout_seconds, maximum_rows = asked.args
    began = perf_counter()
    names, rows = run_sql_with_names(
        asked.lake.warehouse, statement, timeout_seconds=timeout_seconds, maximum_rows=maximum_rows
    )
    seconds = perf_counter() - began
    if not rows:
        return Answer(polars.DataFrame(schema=dict.fromkeys(names, polars.String)), seconds)
    return Answer(polars.DataFrame(rows, infer_schema_length=None, strict=False), seconds)
