"""The lake: DuckLake tables over Parquet, with one writer and any number of readers.

The catalogue is in SQLite or PostgreSQL. Data files are in the warehouse's folder, or in object
storage if the catalogue names a place there or the warehouse itself is in object storage.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from schemas.columns import Table
from schemas.errors import (
    ConfigurationError,
    PublicationError,
    UnknownNameError,
    UpstreamError,
    full_disk,
)
from schemas.place import in_object_storage
from warehouse.catalogue.catalogue_file import (
    has_catalogue,
    make_catalogue,
    publisher_lock,
    refuse_programs,
)
from warehouse.catalogue.connection import Connection, in_memory, restrict_files, share_out
from warehouse.catalogue.definitions import check_catalogue, check_tables, show_marts
from warehouse.catalogue.postgres import (
    VARIABLE,
    PostgresCatalogue,
    catalogue_state,
    only_publisher,
    refuse_server_programs,
    report_lost_server,
)
from warehouse.catalogue.sqlite_file import refuse_foreign_journal
from warehouse.layout import Layout
from warehouse.objects.object_files import reach, report_storage_failures, storage_failure
from warehouse.objects.object_storage import ObjectFolder
from warehouse.parquet import replace_bytes
from warehouse.statements import filled, quoted, statement, table_statement

if TYPE_CHECKING:  # SQL queries do not need it
    import pyarrow as pa

AnswerT = TypeVar("AnswerT")

_BUSY_MILLISECONDS = 30_000
_SHARED_SECONDS = 1
_NO_LAKE = "creating a new DuckLake is explicitly disabled"


@contextmanager
def open_writer(
    layout: Layout,
    catalogue: PostgresCatalogue | None,
    *,
    wait_seconds: float = 60.0,
    moves: bool = False,
) -> Iterator[Connection]:
    """Yield a connection that may change the lake, which is created if missing.

    The lake is the default schema.

    Args:
        catalogue: catalogue in PostgreSQL; None: an SQLite file in the warehouse.
        wait_seconds: how long to wait for another publisher to finish.
        moves: whether the lake is being moved, and may be in two places.

    Raises:
        TransientError: another publisher holds the lock.
        ConfigurationError: the catalogue cannot be opened, belongs to another lake or version; the
            lake was moved, or has to be moved first; object storage refuses.
        UpstreamError: PostgreSQL or object storage cannot be reached.
    """
    _check_catalogue_is_shared(layout, catalogue)
    if not moves:
        _refuse_before_a_move(layout, catalogue)
    layout.lake.mkdir(parents=True, exist_ok=True)
    with (
        publisher_lock(layout.publisher_lock, wait_seconds)
        if catalogue is None
        else only_publisher(catalogue, wait_seconds),
        _attach_lake(layout, catalogue, read_only=False, moves=moves) as connection,
    ):
        if not moves:
            refuse_after_a_move(layout, catalogue, object_folder(connection))
        check_tables(connection)
        yield connection


def _refuse_before_a_move(layout: Layout, catalogue: PostgresCatalogue | None) -> None:
    """Refuse an empty database if the catalogue is a file: a second lake would start there."""
    if catalogue is None or layout.objects is not None or not has_catalogue(layout):
        return
    if not catalogue_state(catalogue).has_lake:
        raise ConfigurationError(
            f"the catalogue of {layout.root} is a file, and {catalogue.title} holds none yet:"
            f" `assay warehouse move-catalogue` moves it there; else unset {VARIABLE}"
        )


def refuse_after_a_move(
    layout: Layout, catalogue: PostgresCatalogue | None, place: ObjectFolder | None
) -> None:
    """Refuse a folder whose warehouse was moved to object storage.

    Publishing from the old folder would miss what has landed at the new address.

    Args:
        place: object folder of the lake's files; None: in a folder.

    Raises:
        ConfigurationError: the warehouse is such a folder.
    """
    if catalogue is not None and layout.objects is None and place is not None:
        address = place.address.removesuffix("lake/").rstrip("/")
        raise ConfigurationError(
            f"the warehouse {layout.root} was moved to {address}: name that with --warehouse"
        )


@contextmanager
def open_reader(
    layout: Layout,
    catalogue: PostgresCatalogue | None,
    *,
    as_defined: bool = True,
    files: Collection[Path] = (),
) -> Iterator[Connection]:
    """Yield a connection that reads whole snapshots, also during publication.

    The lake is the default schema.

    Args:
        as_defined: show marts in the SQL of this version.
        files: files outside the lake that the connection may read and write too.

    Raises:
        UnknownNameError: there is no lake, or an empty one.
        ConfigurationError: its catalogue cannot be opened, belongs to another lake or version;
            object storage refuses.
        UpstreamError: PostgreSQL or object storage cannot be reached.
    """
    if not may_hold_a_lake(layout, catalogue):
        raise no_lake_error(layout)
    _refuse_before_a_move(layout, catalogue)
    with _attach_lake(layout, catalogue, read_only=True, files=files) as connection:
        if not check_tables(connection):
            raise no_lake_error(layout)
        if as_defined:
            show_marts(connection)
        yield connection


def may_hold_a_lake(layout: Layout, catalogue: PostgresCatalogue | None) -> bool:
    """Return whether there is a catalogue to open; one in PostgreSQL may be empty.

    Raises:
        ConfigurationError: the warehouse needs a catalogue in PostgreSQL, and none is set.
    """
    _check_catalogue_is_shared(layout, catalogue)
    return catalogue is not None or has_catalogue(layout) or layout.moved_catalogue.exists()


def _check_catalogue_is_shared(layout: Layout, catalogue: PostgresCatalogue | None) -> None:
    if layout.objects is not None and catalogue is None:
        raise ConfigurationError(
            f"{layout.address} needs its catalogue in PostgreSQL: export"
            f" {VARIABLE}=postgresql://user:password@host:port/database, an empty database for a"
            " new lake"
        )


def no_lake_error(layout: Layout) -> UnknownNameError:
    """Return the error for a warehouse without publications."""
    return UnknownNameError(
        f"no lake in {layout.address}: publish a run first (`assay evaluate … --warehouse"
        f" {layout.address}`)"
    )


@contextmanager
def _attach_lake(
    layout: Layout,
    catalogue: PostgresCatalogue | None,
    *,
    read_only: bool,
    moves: bool = False,
    files: Collection[Path] = (),
) -> Iterator[Connection]:
    if catalogue is None:
        _prepare_file(layout, read_only=read_only)
    scanner = "sqlite_scanner" if catalogue is None else "postgres_scanner"
    with (
        report_lost_server(catalogue),
        report_storage_failures(),
        _report_broken_text(),
        in_memory(scanner, "ducklake") as connection,
    ):
        source, options = _check_source(layout, catalogue, connection)
        options += ["read_only"] if read_only else []

        def attach(place: str) -> None:
            settings = ", ".join(
                (f"data_path {quoted(place)}", "override_data_path true", *options)
            )
            if catalogue is None:
                refuse_foreign_journal(layout.catalogue)
            try:
                connection.execute(f"attach {quoted(source)} as lake ({settings})")
                check_catalogue(connection)
            except duckdb.Error as error:
                raise _opening_error(layout, catalogue, error) from None

        place = default_place = _default_place(layout)
        if in_object_storage(default_place):
            reach(connection, ObjectFolder.of(default_place))
        attach(place)
        (written_at,) = connection.execute(statement("catalogue", "data_path")).fetchall()[0]
        if layout.objects is None and not moves:
            _refuse_other_places(layout, catalogue, written_at)
        if layout.objects is None and in_object_storage(written_at):
            place = written_at
            connection.execute("detach lake")
            reach(connection, ObjectFolder.of(place))
            attach(place)
        elif catalogue is not None and written_at != default_place:
            _refuse_other_lakes(connection, layout, catalogue, written_at)
        if not read_only and not in_object_storage(place):
            # DuckDB would need write permission for the parent folder.
            layout.data.mkdir(exist_ok=True)
        # The catalogue is checked; limit files, because another writer may change its paths later.
        restrict_files(connection, place, files)
        connection.execute(f"set variable data_path = {quoted(place)}")
        try:
            connection.execute("use lake")
        except duckdb.Error as error:
            raise _opening_error(layout, catalogue, error) from None
        if in_object_storage(place):  # one thread reads while another waits for its file
            connection.execute("reset threads")
        else:
            ((most_rows,),) = connection.execute(statement("catalogue", "most_rows")).fetchall()
            share_out(connection, most_rows)
        yield connection


@contextmanager
def _report_broken_text() -> Iterator[None]:
    """Raise ConfigurationError for an error message that is not UTF-8.

    DuckDB quotes broken values of the lake in its messages.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        if _DUCKDB_SAYS not in error.object:
            raise
        message = in_one_line(error.object.decode(errors="replace"))
        raise ConfigurationError(
            f"the lake holds what is no UTF-8: {message}; bring its catalogue back from a copy"
        ) from None


def _check_source(
    layout: Layout, catalogue: PostgresCatalogue | None, connection: Connection
) -> tuple[str, list[str]]:
    """Check a catalogue for programs, and return DuckLake's source and options."""
    if catalogue is None:
        refuse_programs(layout)
        source = f"ducklake:sqlite:{layout.catalogue.resolve()}"
        return source, [f"meta_busy_timeout {_BUSY_MILLISECONDS}"]
    refuse_server_programs(connection, catalogue)
    source = f"ducklake:postgres:{catalogue.connection_string}"
    options = [f"meta_{option}" for option in catalogue.secret(connection)]
    # The first schema of the search path may be named after the role.
    return source, [*options, "metadata_schema 'public'"]


def _prepare_file(layout: Layout, *, read_only: bool) -> None:
    """Refuse a catalogue that was moved to PostgreSQL; create a missing one for a writer."""
    if layout.moved_catalogue.exists():
        raise ConfigurationError(
            f"the catalogue of {layout.root} was moved to PostgreSQL: export {VARIABLE}"
        )
    if not read_only and not has_catalogue(layout):
        try:
            make_catalogue(layout, _default_place(layout))
        except duckdb.Error as error:
            raise _opening_error(layout, None, error) from None


def _default_place(layout: Layout) -> str:
    if layout.objects is not None:
        return layout.objects.within("lake").address
    return f"{layout.data.resolve()}/"


def note_place(layout: Layout, place: str) -> None:
    """Record where the lake's files were moved; none is recorded for the default place."""
    note = _note_of_place(layout)
    if not in_object_storage(place):
        note.unlink(missing_ok=True)
        return
    replace_bytes(note, place.encode())


def _note_of_place(layout: Layout) -> Path:
    return layout.state / "data_place.txt"


def _refuse_other_places(
    layout: Layout, catalogue: PostgresCatalogue | None, written_at: str
) -> None:
    """Refuse a place in the catalogue that no move has recorded.

    Otherwise write access to the catalogue alone would allow writing and deleting files anywhere.
    """
    note = _note_of_place(layout)
    recorded_place = note.read_text(errors="replace") if note.is_file() else None
    if recorded_place == (written_at if in_object_storage(written_at) else None):
        return
    if recorded_place is None:
        refuse_after_a_move(layout, catalogue, ObjectFolder.of(written_at))
    expected_place = recorded_place or _default_place(layout)
    address = "file:"
    if in_object_storage(written_at):
        address = written_at.removesuffix("lake/").rstrip("/")
    raise ConfigurationError(
        f"the catalogue of {layout.root} names {written_at[:200]} as the place of the lake's files,"
        f" and {expected_place} is noted in {note}: bring the catalogue back from a copy, or run"
        f" `assay warehouse move-data {address[:200]}` if they were moved there"
    )


def data_path(connection: Connection) -> str:
    """Return the place of the lake's files, with a slash at the end."""
    ((place,),) = connection.execute("select getvariable('data_path')").fetchall()
    return str(place)


def object_folder(connection: Connection) -> ObjectFolder | None:
    """Return the object folder of the lake's files; None if they are in a folder."""
    place = data_path(connection)
    return ObjectFolder.of(place) if in_object_storage(place) else None


def lake_folder(layout: Layout, catalogue: PostgresCatalogue | None) -> ObjectFolder | None:
    """Return the object folder of the lake's files; None if in a folder or without a lake.

    An empty lake counts too, such as one moved before its first publication.
    """
    if not may_hold_a_lake(layout, catalogue):
        return None
    _refuse_before_a_move(layout, catalogue)
    with (
        suppress(UnknownNameError),
        _attach_lake(layout, catalogue, read_only=True) as connection,
    ):
        check_tables(connection)
        return object_folder(connection)
    return None


def _refuse_other_lakes(
    connection: Connection, layout: Layout, catalogue: PostgresCatalogue, written_at: str
) -> None:
    """Refuse a catalogue that belongs to another lake.

    A lake in a folder may have different paths on different machines, so its files decide. In
    object storage its place is unique.
    """
    if layout.objects is None:
        table = connection.execute(statement("catalogue", "some_table")).fetchone()
        if table is None:
            return
        file = connection.execute(statement("catalogue", "some_file"), [table[0]]).fetchone()
        if file is None or Path(file[0]).exists():
            return
    raise ConfigurationError(
        f"the catalogue at {catalogue.title} is that of the lake in {written_at}, not of"
        f" {_default_place(layout)}: name its warehouse with --warehouse, or another {VARIABLE}"
    )


def _opening_error(
    layout: Layout, catalogue: PostgresCatalogue | None, error: duckdb.Error
) -> ConfigurationError | UpstreamError:
    if catalogue is None:
        return ConfigurationError(
            f"the lake's catalogue {layout.catalogue} cannot be opened: {one_line(error)}"
        )
    if _NO_LAKE in str(error):
        return no_lake_error(layout)
    return catalogue.opening_error(error)


_SERVER_SAYS = "ERROR:"
_DUCKDB_SAYS = b" Error: "
_CANDIDATES = ("Did you mean", "Candidate bindings")


def one_line(error: duckdb.Error) -> str:
    """Return DuckDB's error in one line."""
    return str(storage_failure(error) or full_disk(error) or in_one_line(str(error)))


def in_one_line(message: str) -> str:
    """Return the first line of a message, with DuckDB's suggestions or PostgreSQL's error."""
    first, *further_lines = message.strip().splitlines()
    hint = next((line for line in further_lines if line.startswith(_CANDIDATES)), "")
    if _SERVER_SAYS in message:
        hint = message.rpartition(_SERVER_SAYS)[2].strip().partition("\n")[0]
    return f"{first} {hint}".strip()[:300]


def filled_tables(connection: Connection) -> list[str]:
    """Return the tables that were ever filled; the others need no query."""
    inlined_tables = connection.execute(statement("catalogue", "inlined_tables")).fetchall()
    with_rows = "\n".join(
        filled("catalogue", "with_rows", table_id=str(table_id), table=table)
        for table_id, table in inlined_tables
    )
    sql = filled("catalogue", "filled_tables", with_rows=with_rows)
    return [name for (name,) in connection.execute(sql).fetchall()]


def rows_in(
    connection: Connection, sql: str, parameters: Mapping[str, object] | None = None
) -> list[dict[str, Any]]:
    result = connection.execute(sql, dict(parameters or {}))
    columns = [column[0] for column in result.description or []]
    return [dict(zip(columns, values, strict=True)) for values in result.fetchall()]


@contextmanager
def one_snapshot(connection: Connection) -> Iterator[None]:
    """Read one snapshot in the block, which is looked up once.

    Keep the block short: a publisher waits for readers of an SQLite catalogue.
    """
    connection.execute("begin")
    try:
        yield
    finally:
        connection.execute("rollback")


def query_each(
    connection: Connection, names: Iterable[str], ask: Callable[[str], AnswerT]
) -> Iterator[tuple[str, AnswerT | duckdb.Error]]:
    """Yield the answer for each name, or its error.

    Short queries share a snapshot, to look it up less often.
    """
    with ExitStack() as snapshot:
        opened_at = -math.inf
        for name in names:
            if time.monotonic() - opened_at > _SHARED_SECONDS:
                snapshot.close()
                snapshot.enter_context(one_snapshot(connection))
                opened_at = time.monotonic()
            try:
                answer: AnswerT | duckdb.Error = ask(name)
            except duckdb.Error as error:
                answer, opened_at = error, -math.inf  # this transaction may be unusable
            yield name, answer


@contextmanager
def transaction(connection: Connection, title: str) -> Iterator[None]:
    """Commit the block, or leave the lake unchanged."""
    is_committed = False
    connection.execute("begin")
    try:
        yield
        connection.execute("commit")
        is_committed = True
    except duckdb.Error as error:
        raise PublicationError(f"{title} was not published: {one_line(error)}") from error
    finally:
        if not is_committed:
            with suppress(duckdb.Error):
                connection.execute("rollback")


def insert(connection: Connection, table: Table, rows: "pa.Table") -> None:
    import pyarrow as pa  # loaded already by all callers

    if len(rows):
        # The view lives until the commit. A consumed stream holds no rows, whereas tables would
        # keep every batch of a run in memory.
        batches = iter(rows.to_batches())
        connection.register("incoming", pa.RecordBatchReader.from_batches(rows.schema, batches))
        connection.execute(table_statement("insert", table=table.name, source="incoming"))
