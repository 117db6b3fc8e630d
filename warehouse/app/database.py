"""Database of the services: `state/services.sqlite`, in WAL mode."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from schemas.base import Noun
from schemas.errors import ConfigurationError, ConflictError
from warehouse.catalogue.sqlite_file import database_errors, open_wal
from warehouse.statements import filled, statement
from warehouse.warehouse import Warehouse

NounT = TypeVar("NounT", bound=Noun)
_Values = Mapping[str, Any] | Sequence[Any]


def services_file(warehouse: Warehouse) -> Path:
    return warehouse.state / "services.sqlite"


def check_services(warehouse: Warehouse) -> None:
    """Raise ConfigurationError for a warehouse in object storage, which has no such file."""
    if warehouse.objects is not None:
        raise ConfigurationError(
            f"{warehouse.address} is in object storage: accounts, tokens, people, votes, decisions,"
            " `assay api` and `assay mcp` need a warehouse in a folder"
        )


class Statements:
    """Queries on the services' tables. Conditions are equalities; None: the value is missing."""

    def query(self, sql: str, values: _Values) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def ask(self, name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of `sql/services/<name>.sql`."""
        return self.query(statement("services", name), parameters)

    def rows(
        self, table: str, /, *columns: str, order: str = "rowid", **where: Any
    ) -> list[tuple[Any, ...]]:
        condition, values = _condition(where)
        names = ", ".join(columns)
        sql = filled(
            "services", "select", table=table, columns=names, condition=condition, order=order
        )
        return self.query(sql, values)

    def nouns(
        self, kind: type[NounT], table: str, column: str, /, *, order: str = "rowid", **where: Any
    ) -> list[NounT]:
        """Return the nouns whose JSON is in a column."""
        rows = self.rows(table, column, order=order, **where)
        return [kind.model_validate_json(document) for (document,) in rows]

    def noun(self, kind: type[NounT], table: str, column: str, /, **where: Any) -> NounT | None:
        """Return the first of these nouns; None without rows."""
        return next(iter(self.nouns(kind, table, column, **where)), None)


def _condition(conditions: Mapping[str, Any]) -> tuple[str, list[Any]]:
    values = [value for value in conditions.values() if value is not None]
    tests = (
        f"{name} is null" if each is None else f"{name} = ?" for name, each in conditions.items()
    )
    return " and ".join(tests) or "true", values


class ServiceDatabase(Statements):
    """Connection to the database, safe for threads and processes.

    Committed transactions survive the death of the process and of the machine.

    Raises on construction:
        ConfigurationError: the warehouse is in object storage.

    Raises (every method):
        ConfigurationError: the file is damaged or cannot be opened.
        TransientError: other processes locked it for longer than a minute.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        check_services(warehouse)
        self.path = services_file(warehouse)
        self._reader, self._writer = _Place(), _Place()

    def query(self, sql: str, values: _Values) -> list[tuple[Any, ...]]:
        with self._open(self._reader) as connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Yield a write transaction; no other writer runs in between.

        Readers do not wait for the disk meanwhile.
        """
        with self._open(self._writer) as connection:
            connection.execute("begin immediate")
            with connection:
                yield Transaction(connection)

    def empty_log(self) -> None:
        """Truncate the write-ahead log, so that deleted data is gone."""
        with self._open(self._writer) as connection:
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    def close(self) -> None:
        for place in (self._reader, self._writer):
            with place.lock:
                if place.connection is not None:
                    place.connection.close()
                    place.connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _open(self, place: "_Place") -> Iterator[sqlite3.Connection]:
        remedy = "restore it, or move it away, which revokes all tokens and accounts"
        with place.lock, database_errors(str(self.path), remedy):
            if place.connection is None:
                place.connection = open_wal(self.path, statement("services", "schema"))
            yield place.connection


@dataclass(slots=True)
class _Place:
    """A connection used by one thread at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None


class Transaction(Statements):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def query(self, sql: str, values: _Values) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def add(self, table: str, /, **row: Any) -> None:
        """Insert a row. Raises ConflictError if the table has a row with this key."""
        values = ", ".join(f":{name}" for name in row)
        sql = filled("services", "insert", table=table, columns=", ".join(row), values=values)
        try:
            self._connection.execute(sql, row)
        except sqlite3.IntegrityError as error:
            raise ConflictError(f"{table} has a row of this name already") from error

    def change(self, table: str, new: Mapping[str, Any], /, **where: Any) -> int:
        """Set columns of the matching rows, and return their number."""
        condition, values = _condition(where)
        columns = ", ".join(f"{name} = ?" for name in new)
        sql = filled("services", "update", table=table, columns=columns, condition=condition)
        return self._connection.execute(sql, [*new.values(), *values]).rowcount

    def remove(self, table: str, /, **where: Any) -> int:
        """Delete the matching rows, and return their number."""
        condition, values = _condition(where)
        sql = filled("services", "delete", table=table, condition=condition)
        return self._connection.execute(sql, values).rowcount
