"""Catalogue of a lake in PostgreSQL, shared by machines.

The password is passed as a DuckDB secret, never in a connection string: DuckDB repeats the string
in messages and shows it as the path of the database.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import duckdb

from schemas.errors import ConfigurationError, TransientError, UpstreamError
from warehouse.catalogue.connection import Connection, in_memory
from warehouse.catalogue.definitions import foreign_error, later_rows
from warehouse.statements import quoted, statement

VARIABLE = "ASSAY_CATALOGUE_URL"
_CREDENTIALS = "catalogue"  # the secret's name in DuckDB
OLDEST_VERSION = 12
_SHAPE = "postgresql://user:password@host:port/database"
_SCHEMES = ("postgres", "postgresql")
_POLL_SECONDS = 0.1
_LOST = (
    "the connection",
    "connection to",
    "terminating connection",
    "data from server",
    "data to server",
)
"""Parts of libpq's messages about a lost server."""


@dataclass(frozen=True, slots=True)
class PostgresCatalogue:
    """Address of a catalogue.

    Attributes:
        title: host, port and database, for messages.
        options: libpq options without the password.
    """

    title: str
    options: dict[str, str]
    password: str | None = field(repr=False)

    @classmethod
    def of(cls, url: str) -> "PostgresCatalogue":
        """Parse `postgresql://user:password@host:port/database?sslmode=require`.

        Raises:
            ConfigurationError: the address is invalid; its text is not repeated.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        database = unquote(parts.path.lstrip("/"))
        if parts.scheme not in _SCHEMES or not parts.hostname or not database:
            raise ConfigurationError(f"{VARIABLE} must read {_SHAPE}")
        options = dict(parse_qsl(parts.query))
        if "password" in options:  # only the part before the @ is masked in messages and logs
            raise ConfigurationError(
                f"{VARIABLE}: the password belongs before the host, as in {_SHAPE}"
            )
        options |= {"host": parts.hostname, "dbname": database}
        options |= {"port": str(port)} if port is not None else {}
        options |= {"user": unquote(parts.username)} if parts.username else {}
        title = f"{parts.hostname}{f':{port}' if port is not None else ''}/{database}"
        return cls(title, options, unquote(parts.password) if parts.password else None)

    @property
    def connection_string(self) -> str:
        """Connection string for libpq; the server shows the process name to administrators."""
        client = {"application_name": f"assay, process {os.getpid()} on {socket.gethostname()}"}
        return " ".join(
            f"{name}={_as_libpq(value)}" for name, value in (client | self.options).items()
        )

    def secret(self, connection: Connection) -> tuple[str, ...]:
        """Create a secret with the password, and return the option of `attach` for it.

        Without a password libpq uses its own sources, such as a password file.
        """
        if self.password is None:
            return ()
        connection.execute(
            f"create or replace temporary secret {_CREDENTIALS} (type postgres, password"
            f" {quoted(self.password)})"
        )
        return (f"secret {quoted(_CREDENTIALS)}",)

    def opening_error(self, error: duckdb.Error) -> UpstreamError:
        message = str(error).partition('Unable to connect to Postgres at "')[2].partition('": ')[2]
        reason = " ".join((message or str(error)).split("\n")[0].split())
        return UpstreamError(
            f"the lake's catalogue at {self.title} cannot be opened ({VARIABLE}): {reason}"
        )


@contextmanager
def report_lost_server(catalogue: PostgresCatalogue | None) -> Iterator[None]:
    """Raise UpstreamError if the server is lost in the block; None: a catalogue file."""
    try:
        yield
    except duckdb.Error as error:
        if catalogue is None or not any(words in str(error) for words in _LOST):
            raise
        raise UpstreamError(
            f"the lake's catalogue at {catalogue.title} went away while it was asked: try again"
            " once it is back"
        ) from None


def _as_libpq(value: str) -> str:
    escaped_value = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped_value}'"


@contextmanager
def only_publisher(catalogue: PostgresCatalogue, wait_seconds: float) -> Iterator[None]:
    """Hold the catalogue's lock while the block runs.

    The server releases it when the process or its connection ends.

    Raises:
        TransientError: another process held it for `wait_seconds`.
        UpstreamError: the server cannot be reached.
    """
    deadline = time.monotonic() + wait_seconds
    with _server_transaction(catalogue) as connection:
        while not _ask(connection, "lock")["held"]:
            if time.monotonic() >= deadline:
                raise TransientError(
                    f"{_ask(connection, 'holder').get('holder', 'another process')} is publishing"
                    f" to {catalogue.title}: try again when it has finished"
                )
            time.sleep(_POLL_SECONDS)
        yield


@dataclass(frozen=True, slots=True)
class CatalogueState:
    """Version of a server, and this user's permissions.

    Attributes:
        has_lake: whether a lake's tables exist.
    """

    version: str
    user: str
    has_lake: bool
    may_read: bool
    may_write: bool

    @property
    def is_usable(self) -> bool:
        return int(self.version.split(".")[0]) >= OLDEST_VERSION and self.may_read

    @property
    def rights(self) -> str:
        """The permissions, in words."""
        if int(self.version.split(".")[0]) < OLDEST_VERSION:
            return f"DuckLake needs PostgreSQL {OLDEST_VERSION} or newer"
        if not self.may_read:
            return f"{self.user} may not read the lake"
        rights = "read and publish" if self.may_write else "read and not publish"
        return f"{self.user} may {rights}{'' if self.has_lake else '; no lake yet'}"


def catalogue_state(catalogue: PostgresCatalogue) -> CatalogueState:
    """Query the server. Raises UpstreamError if it cannot be reached."""
    with _server_transaction(catalogue) as connection:
        row = _ask(connection, "state")
    has_lake = row["may_read"] is not None
    may_write = row["may_write"] if has_lake else row["may_create"]
    return CatalogueState(
        version=row["version"].split()[0],
        user=row["user_name"],
        has_lake=has_lake,
        may_read=bool(row["may_read"]) if has_lake else True,
        may_write=bool(may_write) and not row["is_replica"],
    )


def check_may_publish(catalogue: PostgresCatalogue) -> None:
    """Check that this user may change the lake of a catalogue.

    Raises:
        ConfigurationError: it may only read.
        UpstreamError: the server cannot be reached.
    """
    state = catalogue_state(catalogue)
    if not state.may_write:
        raise ConfigurationError(
            f"nothing could be published to the catalogue at {catalogue.title}: {state.rights}"
        )


@contextmanager
def _server_transaction(catalogue: PostgresCatalogue) -> Iterator[Connection]:
    """Yield a transaction of the server, queried in its own SQL."""
    with report_lost_server(catalogue), in_memory("postgres_scanner") as connection:
        attach_postgres(connection, catalogue)
        connection.execute("begin")
        try:
            yield connection
        finally:
            # DuckDB's own rollback would end the process if the server is lost.
            with suppress(duckdb.Error):
                connection.execute("rollback")


def attach_postgres(
    connection: Connection, catalogue: PostgresCatalogue, *, read_only: bool = True
) -> None:
    """Attach the database as `catalogue`; its extension is loaded.

    Raises:
        UpstreamError: it cannot be reached.
    """
    options = [
        "type postgres",
        *catalogue.secret(connection),
        *(["read_only"] if read_only else []),
    ]
    try:
        connection.execute(
            f"attach {quoted(catalogue.connection_string)} as catalogue ({', '.join(options)})"
        )
    except duckdb.Error as error:
        raise catalogue.opening_error(error) from None


def refuse_server_programs(connection: Connection, catalogue: PostgresCatalogue) -> None:
    """Refuse a catalogue with objects that the server would run, which DuckLake never creates.

    Raises:
        ConfigurationError: names the first such view, trigger or rule.
        UpstreamError: the server cannot be reached.
    """
    attach_postgres(connection, catalogue)
    try:
        with report_lost_server(catalogue):
            program = _ask(connection, "server_programs")
            later = None if program else _later_rows(connection)
    except duckdb.Error as error:
        raise catalogue.opening_error(error) from None
    connection.execute("detach catalogue")
    if program:
        raise foreign_error(f"the {program['kind']}", program["name"])
    if later is not None:
        raise foreign_error("the row of a later snapshot in", later)


def _later_rows(connection: Connection) -> str | None:
    """Return a table with rows of a snapshot later than the newest."""
    question = "from postgres_query('catalogue', ?)"
    tables = connection.execute(question, [statement("catalogue", "server_inlined")]).fetchall()
    statements = later_rows((name for (name,) in tables), "public")
    if not statements:
        return None
    row = connection.execute(question, ["\nunion all\n".join(statements)]).fetchone()
    return row[0] if row else None


def _ask(connection: Connection, name: str) -> dict[str, Any]:
    """Return the first row of `sql/catalogue/<name>.sql`; empty if there is none."""
    result = connection.execute(statement("catalogue", "ask"), [statement("catalogue", name)])
    columns = [column[0] for column in result.description or []]
    row = result.fetchone()
    return dict(zip(columns, row, strict=True)) if row is not None else {}
