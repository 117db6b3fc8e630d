"""The database of the services: `state/services.sqlite`, in WAL mode."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from schemas.errors import ConfigurationError, TransientError
from warehouse.catalogue.sqlite_file import connect
from warehouse.statements import statement
from warehouse.stores.keyed_store import BUSY_TIMEOUT_SECONDS, into_wal
from warehouse.warehouse import Warehouse

_TABLES = (
    *("tokens", "submissions", "accounts", "sessions"),
    *("records", "offers", "contests", "questions", "people", "reasons"),
)


def services_file(warehouse: Warehouse) -> Path:
    return warehouse.state / "services.sqlite"


def check_services(warehouse: Warehouse) -> None:
    """Raises ConfigurationError where a warehouse has no such database: machines share no file."""
    if warehouse.objects is not None:
        raise ConfigurationError(
            f"{warehouse.address} lies in object storage: accounts, tokens, people, votes, decisions,"
            " `assay api` and `assay mcp` need a warehouse in a folder"
        )


class ServiceDatabase:
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
        """Rows that `sql/services/<name>.sql` answers."""
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
        with place.lock:
            try:
                if place.connection is None:
                    place.connection = self._connect()
                yield place.connection
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    raise TransientError(
                        f"{self.path} stayed locked by other processes for"
                        f" {BUSY_TIMEOUT_SECONDS:.0f} s"
                    ) from error
                raise ConfigurationError(
                    f"{self.path} cannot be used ({error}): make its folder writable, with free"
                    " space"
                ) from error
            except sqlite3.DatabaseError as error:
                raise ConfigurationError(
                    f"{self.path} is damaged ({error}): restore it, or move it away, which revokes"
                    " all tokens and accounts"
                ) from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(
            self.path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            into_wal(connection)
            connection.execute("pragma synchronous = full")
            connection.execute("pragma secure_delete = on")  # who is forgotten leaves no bytes
            for name in _TABLES:
                connection.execute(statement("services", f"create_{name}"))
        except sqlite3.Error:
            connection.close()
            raise
        return connection


@dataclass(slots=True)
class _Place:
    """A connection that one thread uses at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None


class Transaction:
    """Statements within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ask(self, name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows that `sql/services/<name>.sql` answers."""
        return self._connection.execute(statement("services", name), parameters).fetchall()
