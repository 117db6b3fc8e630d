"""The files of a lake go from its folder to object storage, or back; its catalogue stays where it is
and says where they lie.
"""

import tempfile
from pathlib import Path

import duckdb

from schemas.base import Noun
from schemas.errors import ConfigurationError, PublicationError
from warehouse.connection import extension_path
from warehouse.lake import object_folder, one_line, open_writer
from warehouse.layout import Layout
from warehouse.object_storage import ObjectFolder, file_size
from warehouse.postgres import PostgresCatalogue, attach_postgres
from warehouse.statements import quoted, statement


class MovedData(Noun):
    """What a move of a lake's files did. `kept`: where they lay before, and still do."""

    files: int
    files_copied: int
    bytes_copied: int
    place: str
    kept: str | None


def move_data(
    layout: Layout, target: ObjectFolder | None, *, catalogue_url: str | None = None
) -> MovedData:
    """Copy every file that a snapshot reads to `target` (None: the warehouse's own folder), and from
    then on read and write there. A move that was cut short is finished by the same call: nothing
    changes for readers before the last file is there.

    Where there is no lake, an empty one is made.

    Raises:
        ConfigurationError: the storage refuses, DuckDB cannot read it, or a file of the lake is missing.
        PublicationError: the catalogue could not be changed; nothing has changed.
        TransientError: a publisher is at work.
        UpstreamError: the storage or PostgreSQL cannot be reached.
    """
    if target is not None:
        extension_path("httpfs")
        target.check()
    copied = []
    with open_writer(layout, catalogue_url=catalogue_url) as connection:
        source = object_folder(connection)
        place = f"{layout.data.resolve()}/" if target is None else target.address
        before = f"{layout.data.resolve()}/" if source is None else source.address
        files = dict(connection.execute(statement("catalogue", "files")).fetchall())
        if place != before:
            copied = [
                size
                for name, size in files.items()
                if _copied(layout.data, source, target, name, size)
            ]
            _note(connection, layout, catalogue_url, place)
    return MovedData(
        files=len(files),
        files_copied=len(copied),
        bytes_copied=sum(copied),
        place=place,
        kept=before if files and place != before else None,
    )


def _note(
    connection: duckdb.DuckDBPyConnection, layout: Layout, catalogue_url: str | None, place: str
) -> None:
    """Write into the catalogue where the files lie; the lake is detached after that."""
    connection.execute("use memory")
    connection.execute("detach lake")
    if catalogue_url is None:
        file = quoted(str(layout.catalogue.resolve()))
        connection.execute(f"attach {file} as catalogue (type sqlite)")
    else:
        attach_postgres(connection, PostgresCatalogue.of(catalogue_url), read_only=False)
    try:
        connection.execute(statement("catalogue", "lay_data"), [place])
    except duckdb.Error as error:
        raise PublicationError(f"the files were not moved: {one_line(error)}") from error


def _copied(
    folder: Path, source: ObjectFolder | None, target: ObjectFolder | None, name: str, size: int
) -> bool:
    """Whether the file was not yet there; it is now, with all its bytes."""
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
            at = folder / name
            at.parent.mkdir(parents=True, exist_ok=True)
            building = at.with_name(f".{at.name}.building")
            building.write_bytes(file.read_bytes())
            building.replace(at)
    if file_size(folder, target, name) != size:
        raise ConfigurationError(f"{name} did not arrive whole: nothing was moved; try again")
    return True
