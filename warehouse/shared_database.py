"""State shared by machines: budgets and rates, in the database of the catalogue.

Without a catalogue in PostgreSQL one machine does all the work, and uses files.
"""

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

from schemas.errors import AssayError, ConfigurationError, SharedStateError
from schemas.settings import Settings
from warehouse.statements import statement

AnswerT = TypeVar("AnswerT")
_CONNECT_SECONDS, _STATEMENT_SECONDS = 10.0, 60.0
_PATIENCE_SECONDS, _PAUSE_SECONDS = 60.0, 1.0
"""A restarting server is back within this time."""
_SERVER_SETTINGS = {
    "search_path": "public",
    # A crash of the server may lose the latest spending, as with a file.
    "synchronous_commit": "off",
    # Bounds how long a frozen machine blocks the others.
    "idle_in_transaction_session_timeout": "30s",
}
_OPTIONS = (
    "user",
    "sslmode",
    "sslcert",
    "sslkey",
    "sslrootcert",
    "sslcrl",
    "passfile",
    "application_name",
)


class Answer(Protocol):
    def fetchone(self) -> Any: ...

    def fetchall(self) -> Sequence[Any]: ...


class Statements(Protocol):
    """An open transaction of SQLite or PostgreSQL; parameters are written ?1, ?2."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Answer: ...


class Record(NamedTuple):
    """A named record, with the server's clock in seconds.

    Attributes:
        content: None: no record yet.
        replace: replaces the content; None deletes the record.
    """

    content: bytes | None
    clock: float
    replace: Callable[[bytes | None], None]


class SharedDatabase:
    """Short transactions in PostgreSQL for synchronous code.

    A process has one connection on an event loop of its own, since callers' loops end.
    """

    def __init__(self, url: str) -> None:
        from warehouse.catalogue.postgres import PostgresCatalogue  # late import: it needs DuckDB

        # `of` first: it refuses an invalid address without repeating it.
        self._title, self._url = PostgresCatalogue.of(url).title, _for_asyncpg(url)
        self._lock = threading.Lock()
        self._connection: Any = None
        self._has_tables = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        atexit.register(self._close)

    @property
    def has_tables(self) -> bool:
        """Return whether a machine has stored anything here."""
        if not self._has_tables:
            with self._transaction() as statements:
                answer = statements.execute("select to_regclass('public.records') is not null")
                self._has_tables = bool(answer.fetchone()[0])
        return self._has_tables

    @property
    def identity(self) -> str:
        """Identity of this database, by which machines detect that they share it.

        A copy restored from a dump has another.
        """
        with self.transaction("identity") as statements:
            name, place = statements.execute(
                statement("budgets", "identity"), [uuid4().hex.encode()]
            ).fetchone()
            return f"{name.decode(errors='replace')} {place}"

    @contextmanager
    def transaction(self, subject: str) -> Iterator[Statements]:
        """Yield a transaction on `subject`, one at a time over all machines.

        Raises:
            SharedStateError: the server cannot be reached, or was lost.
            ConfigurationError: it refuses.
        """
        if not self.has_tables:
            self._make_tables()
        with self._transaction(subject) as statements:
            yield statements

    @contextmanager
    def record(self, name: str) -> Iterator[Record]:
        """Yield the record of this name, locked against changes by other machines.

        Raises:
            SharedStateError, ConfigurationError: as `transaction`.
        """
        with self.transaction(name) as statements:
            query = statement("budgets", "read_record")
            content, clock = statements.execute(query, [name]).fetchone()

            def replace(content: bytes | None) -> None:
                if content is None:
                    statements.execute("delete from records where name = ?1", [name])
                else:
                    statements.execute(statement("budgets", "keep_record"), [name, content])

            yield Record(content, clock, replace)

    def _close(self) -> None:
        """Close the connection before the interpreter unloads its modules."""
        self._loop.call_soon_threadsafe(self._terminate)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=1.0)

    def _make_tables(self) -> None:
        with self._transaction("tables"):
            self._run(self._connection.execute(statement("budgets", "schema")))
            self._run(self._connection.execute(statement("budgets", "records")))

    @contextmanager
    def _transaction(self, subject: str | None = None) -> Iterator[Statements]:
        with self._lock:
            has_ended = False
            try:
                transaction = self._run(self._begin(subject))
                try:
                    yield _Transaction(self._connection, self._run)
                except BaseException:
                    with suppress(AssayError):  # the connection is lost
                        self._run(_await(transaction.rollback))
                        has_ended = True
                    raise
                self._run(_await(transaction.commit))
                has_ended = True
            finally:
                # Otherwise later transactions would be savepoints in an open one.
                if not has_ended:
                    self._loop.call_soon_threadsafe(self._terminate)

    def _terminate(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    async def _begin(self, subject: str | None) -> Any:
        """Start a transaction and lock `subject`; reconnect after a lost connection.

        Nothing has been written yet, so the retry is safe.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._connect()
                transaction = self._connection.transaction()
                await transaction.start()
                if subject is not None:
                    turn = statement("budgets", "take_turn").replace("?", "$")
                    await self._connection.fetch(turn, subject)
            except _losses():
                if self._connection is None or time.monotonic() >= deadline:
                    raise
                self._terminate()
            else:
                return transaction
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _connect(self) -> Any:
        """Connect to a database, and refuse one with foreign programs.

        They would run with the permissions of this user.
        """
        import asyncpg  # late import: most processes need none

        from warehouse.catalogue.definitions import foreign_error  # late import: it needs DuckDB

        connection = await asyncpg.connect(
            self._url,
            timeout=_CONNECT_SECONDS,
            command_timeout=_STATEMENT_SECONDS,
            server_settings=_SERVER_SETTINGS,
        )
        program = await connection.fetchrow(statement("catalogue", "server_programs"))
        if program is not None:
            connection.terminate()
            raise foreign_error(f"the {program['kind']}", program["name"])
        return connection

    def _run(self, coroutine: Coroutine[Any, Any, AnswerT]) -> AnswerT:
        import asyncpg

        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, asyncpg.DataError | ValueError):
                reason = "a value does not fit its column"  # the message contains the value
            # asyncpg raises InterfaceError for invalid values and addresses too.
            is_lost = isinstance(error, _losses()) and not isinstance(error, ValueError)
            kind = SharedStateError if is_lost else ConfigurationError
            raise kind(
                f"budgets and rates cannot be kept with the catalogue at {self._title}"
                f" (ASSAY_CATALOGUE_URL): {reason}"
            ) from None
        except BaseException:  # Ctrl-C
            future.cancel()
            raise


async def _await(ending: Callable[[], Awaitable[None]]) -> None:
    # On a closed connection asyncpg raises before returning an awaitable.
    await ending()


def _losses() -> tuple[type[BaseException], ...]:
    """Return the error types of a server that is lost or missing."""
    import asyncpg

    return (
        asyncpg.PostgresConnectionError,
        asyncpg.CannotConnectNowError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.IdleInTransactionSessionTimeoutError,  # this machine was frozen
        asyncpg.InterfaceError,
        OSError,
        TimeoutError,
    )


def _for_asyncpg(url: str) -> str:
    """Return the address without libpq options that asyncpg would send as server settings."""
    parts = urlsplit(url)
    port = dict(parse_qsl(parts.query)).get("port", "")
    if parts.port is None and port.isdecimal():  # asyncpg ignores the port in the query
        parts = parts._replace(netloc=f"{parts.netloc.removesuffix(':')}:{port}")
    options = [(name, value) for name, value in parse_qsl(parts.query) if name in _OPTIONS]
    return urlunsplit(parts._replace(query=urlencode(options)))


class _Transaction:
    """Implements `Statements`."""

    def __init__(self, connection: Any, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._connection, self._run = connection, run

    def execute(self, sql: str, values: Sequence[Any] = ()) -> "_Rows":
        return _Rows(self._run(self._connection.fetch(sql.replace("?", "$"), *values)))


class _Rows:
    """Implements `Answer`."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        return self._rows[0] if self._rows else None

    def fetchall(self) -> Sequence[Any]:
        return self._rows


def shared_database() -> SharedDatabase | None:
    """Return the database of shared state; None: one machine uses files.

    Raises:
        ConfigurationError: the catalogue's address is invalid.
    """
    url = Settings().catalogue
    return None if url is None else _database(url, os.getpid())


@cache
def _database(url: str, process: int) -> SharedDatabase:
    del process  # a forked process needs its own event loop
    return SharedDatabase(url)
