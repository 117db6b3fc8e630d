"""Moves of a lake: its catalogue to PostgreSQL, its files to object storage.

The catalogue keeps every snapshot and the place of the files. With a catalogue in PostgreSQL the
whole warehouse moves with its files.
"""

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb

from schemas.base import Noun
from schemas.errors import ConfigurationError, PublicationError
from schemas.identifiers import RunId
from warehouse.catalogue.catalogue_file import has_catalogue
from warehouse.catalogue.connection import Connection, extension_path, in_memory, restrict_files
from warehouse.catalogue.postgres import PostgresCatalogue, attach_postgres
from warehouse.catalogue.sqlite_file import refuse_foreign_journal
from warehouse.kinds.registry import KINDS
from warehouse.lake import note_place, object_folder, one_line, open_writer
from warehouse.layout import Layout
from warehouse.objects.object_storage import AT_ONCE, ObjectFolder, file_size
from warehouse.statements import filled, quoted, statement
from warehouse.units import bucket
from warehouse.units.bucket import RECEIPT_FILE
from warehouse.units.landing import landed_names, unit_folders, work_files
from warehouse.warehouse import Warehouse


class MovedData(Noun):
    """Result of moving a lake's files.

    Attributes:
        kept: the previous place, which still has the files.
        units: landed units copied to the address; None: the warehouse stays in its folder.
    """

    files: int
    files_copied: int
    bytes_copied: int
    place: str
    kept: str | None
    units: int | None = None


def move_data(warehouse: Warehouse, address: str | None) -> MovedData:
    """Copy the lake's files to an address in object storage, and use them there.

    Files go to the folder `lake` at `address` (None: to the warehouse's folder). An interrupted
    move is finished by the same call: readers see no change before the last file is copied.

    With a catalogue in PostgreSQL landed units are copied too, and the address becomes that of the
    warehouse. A missing lake is created.

    Raises:
        ConfigurationError: the storage refuses, DuckDB cannot read it, a file of the lake is
            missing, or the warehouse is in object storage already.
        PublicationError: the catalogue could not be changed; nothing has changed.
        TransientError: a publisher holds the lock.
        UpstreamError: the storage or PostgreSQL cannot be reached.
    """
    if warehouse.objects is not None:
        raise ConfigurationError(
            f"{warehouse.address} is in object storage already: copy the bucket, and name any"
            " folder as the warehouse to record the new place of the files"
        )
    units, target = None, None
    if address is not None:
        address_folder = ObjectFolder.of(address)
        extension_path("httpfs")
        address_folder.check()
        target = address_folder.within("lake")
        if warehouse.postgres is not None:
            units = _upload_landed(warehouse, Warehouse.of(address))
    copied_sizes = []
    with warehouse.publisher(moves=True) as connection:
        source = object_folder(connection)
        place = f"{warehouse.data.resolve()}/" if target is None else target.address
        previous_place = f"{warehouse.data.resolve()}/" if source is None else source.address
        rows = connection.execute(statement("catalogue", "files")).fetchall()
        files = {name: size for _, name, size, _ in rows}
        if place != previous_place:
            copied_sizes = [
                size
                for name, size in files.items()
                if _copy_file(warehouse.data, source, target, name, size)
            ]
            _write_place(connection, warehouse, place)
        # Also if nothing was copied: an interrupted move may have stopped right here.
        note_place(warehouse, place)
    return MovedData(
        files=len(files),
        files_copied=len(copied_sizes),
        bytes_copied=sum(copied_sizes),
        place=place,
        kept=previous_place if files and place != previous_place else None,
        units=units,
    )


def _upload_landed(source: Warehouse, target: Warehouse) -> int:
    """Copy landed units to the bucket and its working folder; return their number."""
    if source.landing.is_dir():
        shutil.copytree(source.landing, target.landing, dirs_exist_ok=True)
    count = 0
    for kind in KINDS:
        for names in landed_names(target, kind):
            folder = kind.folder(target, *names)
            units = [
                each
                for each in unit_folders(target, kind, *names)
                if (each / RECEIPT_FILE).exists()
            ]
            with ThreadPoolExecutor(AT_ONCE) as pool:  # a unit that the bucket has stays
                list(pool.map(partial(bucket.upload_unit, target, replaced=None), units, units))
            bucket.upload_work(target, folder, work_files(target, kind, *names))
            count += len(units)
    for index in target.landing.glob("receipts/*/*"):
        for run in index.iterdir():
            bucket.add_run(target, index, RunId(run.name))
    return count


def _write_place(connection: Connection, warehouse: Warehouse, place: str) -> None:
    """Write the place of the files into the catalogue; detaches the lake."""
    connection.execute("use memory")
    connection.execute("detach lake")
    # Another connection, since one limited to a lake cannot attach databases.
    scanner = "sqlite_scanner" if warehouse.postgres is None else "postgres_scanner"
    with in_memory(scanner) as catalogue_connection:
        if warehouse.postgres is None:
            refuse_foreign_journal(warehouse.catalogue)
            file = quoted(str(warehouse.catalogue.resolve()))
            catalogue_connection.execute(f"attach {file} as catalogue (type sqlite)")
        else:
            attach_postgres(catalogue_connection, warehouse.postgres, read_only=False)
        try:
            catalogue_connection.execute(statement("catalogue", "lay_data"), [place])
        except duckdb.Error as error:
            raise PublicationError(f"the files were not moved: {one_line(error)}") from error


def _copy_file(
    folder: Path, source: ObjectFolder | None, target: ObjectFolder | None, name: str, size: int
) -> bool:
    """Copy a file unless it is there in full, and return whether it was copied."""
    if file_size(folder, target, name) == size:
        return False
    if file_size(folder, source, name) != size:
        place = folder if source is None else source.address
        raise ConfigurationError(
            f"{name} is missing in {place}, or has not its {size} bytes: nothing was moved"
        )
    with tempfile.TemporaryDirectory() as temporary:
        file = folder / name
        if source is not None:
            file = Path(temporary) / "file"
            source.download(name, file)
        if target is not None:
            target.upload(name, file)
        else:
            target_file = folder / name
            target_file.parent.mkdir(parents=True, exist_ok=True)
            building = target_file.with_name(f".{target_file.name}.building")
            building.unlink(missing_ok=True)  # it may be a link
            building.write_bytes(file.read_bytes())
            building.replace(target_file)
    if file_size(folder, target, name) != size:
        raise ConfigurationError(f"{name} did not arrive whole: nothing was moved; try again")
    return True


_INLINED_PREFIX = "ducklake_inlined_data_"


def move_catalogue(layout: Layout, catalogue_url: str) -> dict[str, int]:
    """Copy the catalogue into PostgreSQL in one transaction, and rename the file.

    An interrupted move is repeated or finished by the same call.

    Returns:
        Rows by table of the catalogue.

    Raises:
        ConfigurationError: there is no SQLite catalogue, or the database holds another lake.
        PublicationError: the copy failed; nothing has changed.
        TransientError: a publisher holds the lock.
        UpstreamError: PostgreSQL cannot be reached.
    """
    catalogue = PostgresCatalogue.of(catalogue_url)
    if not has_catalogue(layout):
        was_moved = layout.moved_catalogue.exists()
        raise ConfigurationError(
            f"{layout.root} has no SQLite catalogue to move"
            + (f": it was moved before, to {layout.moved_catalogue.name}" if was_moved else "")
        )
    with open_writer(layout, None) as source:
        source.execute("call ducklake_flush_inlined_data('lake')")
        # Attaching creates the tables of an empty lake in this DuckLake version.
        with (
            open_writer(layout, catalogue, moves=True),
            _source_and_target(layout, catalogue) as connection,
        ):
            rows = _copy(connection, catalogue)
    layout.catalogue.rename(layout.moved_catalogue)
    return rows


@contextmanager
def _source_and_target(layout: Layout, catalogue: PostgresCatalogue) -> Iterator[Connection]:
    with in_memory("sqlite_scanner", "postgres_scanner") as connection:
        refuse_foreign_journal(layout.catalogue)
        connection.execute(
            f"attach {quoted(str(layout.catalogue.resolve()))} as source (type sqlite, read_only)"
        )
        attach_postgres(connection, catalogue, read_only=False)
        restrict_files(connection, None)
        yield connection


def _copy(connection: Connection, catalogue: PostgresCatalogue) -> dict[str, int]:
    names = [
        name
        for (name,) in connection.execute(statement("catalogue", "tables")).fetchall()
        if not name.startswith(_INLINED_PREFIX)
    ]
    if _snapshots(connection, "catalogue") == _snapshots(connection, "source"):
        return _counts(connection, "catalogue", names)
    if connection.execute("select 1 from catalogue.ducklake_table limit 1").fetchone():
        raise ConfigurationError(
            f"the database at {catalogue.title} holds a lake: name an empty one"
        )
    try:
        connection.execute("begin")
        for name in names:
            connection.execute(filled("catalogue", "delete_rows", table=name))
            connection.execute(filled("catalogue", "copy_rows", table=name))
        counts = _counts(connection, "catalogue", names)
        if counts != _counts(connection, "source", names):
            raise PublicationError(
                "the catalogue was not moved: its copy has other numbers of rows"
            )
        connection.execute("commit")
    except duckdb.Error as error:
        raise PublicationError(f"the catalogue was not moved: {one_line(error)}") from error
    return counts


def _snapshots(connection: Connection, database: str) -> list[tuple[object, ...]]:
    """Return tables and snapshots, which are equal only for copies of one lake."""
    return connection.execute(filled("catalogue", "identity", database=database)).fetchall()


def _counts(connection: Connection, database: str, names: list[str]) -> dict[str, int]:
    counts = (filled("catalogue", "count_rows", table=name, database=database) for name in names)
    return dict(connection.execute(" union all ".join(counts)).fetchall())
