"""The database of the services: `state/services.sqlite`, in WAL mode."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from schemas.base import Noun
from schemas.errors import ConfigurationError, ConflictError
from warehouse.catalogue.sqlite_file import database_errors, open_wal
from warehouse.statements import filled, statement
from warehouse.warehouse import Warehouse

NounT = TypeVar("NounT", bound=Noun)


def services_file(warehouse: Warehouse) -> Path:
    return warehouse.state / "services.sqlite"


def check_services(warehouse: Warehouse) -> None:
    """Raises ConfigurationError where a warehouse has no such database: machines share no file."""
    if warehouse.objects is not None:
        raise ConfigurationError(
            f"{warehouse.address} lies in object storage: accounts, tokens, people, votes, decisions,"
            " `assay api` and `assay mcp` need a warehouse in a folder"
        )


class Statements:
    """Statements of the services, asked by the names of their files."""

    def ask(self, name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows that `sql/services/<name>.sql` answers."""
        raise NotImplementedError

    def nouns(self, kind: type[NounT], name: str, /, **parameters: Any) -> list[NounT]:
        """The nouns whose JSON is the last column of the rows."""
        return [kind.model_validate_json(row[-1]) for row in self.ask(name, **parameters)]

    def noun(self, kind: type[NounT], name: str, /, **parameters: Any) -> NounT | None:
        """The first of them; None: there is no row."""
        return next(iter(self.nouns(kind, name, **parameters)), None)


class ServiceDatabase(Statements):
    """Safe for threads and processes. What a transaction has committed survives the death of the
    process and of the machine.

    Raises on construction:
        ConfigurationError: the warehouse lies in object storage, where there is no such file.

    Raises (every method):
        ConfigurationError: the file is damaged or cannot be opened.
        TransientError: other processes kept it locked for longer than a minute.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        check_services(warehouse)
        self.path = services_file(warehouse)
        self._reader, self._writer = _Place(), _Place()

    def ask(self, name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        with self._open(self._reader) as connection:
            return connection.execute(statement("services", name), parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Several statements that see and leave one state: no other writer comes between.

        Who asks meanwhile does not wait for the disk.
        """
        with self._open(self._writer) as connection:
            connection.execute("begin immediate")
            with connection:
                yield Transaction(connection)

    def empty_log(self) -> None:
        """Leave nothing of what was deleted in the write-ahead log."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
    """A connection that one thread uses at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None


class Transaction(Statements):
    """Statements within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ask(self, name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement("services", name), parameters).fetchall()

    def add(self, table: str, /, **row: Any) -> None:
        """Insert a row.

        Raises:
            ConflictError: the table has a row of this key.
        """
        values = ", ".join(f":{name}" for name in row)
        sql = filled("services", "insert", table=table, columns=", ".join(row), values=values)
        try:
            self._connection.execute(sql, row)
        except sqlite3.IntegrityError as error:
            raise ConflictError(f"{table} has a row of this name already") from error
