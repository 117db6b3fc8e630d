"""Rows to Parquet and back, held against the table's Arrow schema."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.columns import ColumnType, Table
from schemas.errors import PublicationError
from warehouse.rows import Row
from warehouse.scrubbing import concealed, known_secrets

BUILDING = ".building-"
MOST_BYTES = 256_000_000
"""Of a file that is read whole: some times the largest request or receipt."""


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """`rows` in the table's Arrow schema, without known secrets: here, and only here, text enters
    the lake.

    Raises:
        PublicationError: a row lacks a column, has one too many, or holds a value the column does
            not take.
    """
    names = set(table.column_names)
    for position, row in enumerate(rows):
        if row.keys() != names:
            raise PublicationError(
                f"row {position} of {table.name}: missing {sorted(names - row.keys())}, unknown"
                f" {sorted(row.keys() - names)} columns"
            )
    arrays = []
    secrets = known_secrets()
    schema = table.arrow_schema
    for field in schema:
        values = [concealed(row[field.name], secrets) for row in rows]
        if not field.nullable and any(value is None for value in values):
            raise PublicationError(
                f"{table.name}.{field.name} is NULL in row {values.index(None)}, and it may not be"
            )
        arrays.append(_array(table, field, values))
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(table: Table, field: pa.Field, values: list[object]) -> pa.Array:
    try:
        return pa.array(values, type=field.type)
    except (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
        OverflowError,
        UnicodeEncodeError,
        TypeError,
    ) as error:
        raise PublicationError(
            f"{table.name}.{field.name} takes {field.type}: {' '.join(str(error).split())[:300]}"
        ) from error


def write_rows(table: Table, rows: Sequence[Row], path: Path) -> int:
    """Write `rows` to `path`, every page with a checksum, and return its size in bytes.

    Files are small, many, and read whole: dictionaries and statistics would make them larger, and
    reading and writing them two to three times slower.

    Raises PublicationError for a wrong row.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(
        arrow_table(table, rows),
        sink,
        compression="snappy",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        write_page_checksum=True,
    )
    return write_bytes(path, sink.getvalue())


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file whole. A pipe or device is refused, where it would be waited for or never end,
    and so is a link, which may lead to any file.

    Raises:
        OSError: it is missing, no file, larger than `most` bytes, or cannot be read.
    """
    # Without O_NONBLOCK, opening a pipe waits for somebody to write.
    more = os.O_NONBLOCK | os.O_NOFOLLOW
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | more)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "It is a pipe, socket or device", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"It has more than {most:,} bytes", str(path))
        return file.read(most)


def write_bytes(path: Path, content: bytes | pa.Buffer) -> int:
    """Write `content` to a new file through to the disk, so that a rename never outlives what it
    names; returns the size in bytes. What bears the name is replaced: it may be a link.

    Bytes, such as receipts and reports, lose known secrets; a buffer of Arrow's comes from rows
    that have lost them.
    """
    content = concealed(content) if isinstance(content, bytes) else content
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        written = file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return written


def replace_bytes(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file whole or not at all, in place of what bears its name, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"{BUILDING}{path.name}")
    write_bytes(building, content)
    building.replace(path)


_BYTES_PER_BATCH = 16_000_000
_MOST_FILE_BYTES = 2_000_000_000


def in_batches(files: Sequence[Path]) -> Iterator[Sequence[Path]]:
    """`files` in batches of bounded size, whatever the size of the run: a batch becomes one file of
    the lake, and readers open them all.

    Raises:
        PublicationError: a file is missing.
    """
    batch: list[Path] = []
    size_bytes = 0
    for file in files:
        batch.append(file)
        size_bytes += _size_bytes(file)
        if size_bytes >= _BYTES_PER_BATCH:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch


def _size_bytes(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError as error:
        raise _unreadable(file, error) from error


def read_landed(table: Table, files: Sequence[Path], *, prose: bool = True) -> pa.Table:
    """Rows of `files` with the columns of `table`.

    Small files are read twice as fast so as by the database.

    Args:
        prose: False keeps the first character of every text only, for who asks merely whether it is
            there.

    Raises:
        PublicationError: a file is missing or unreadable, or has other columns or types than its
            table.
    """
    schema = pa.schema([column.arrow_field.with_nullable(True) for column in table.columns])
    if not files:
        return schema.empty_table()
    contents = (_conforming(_read(file), schema, file) for file in files)
    return pa.concat_tables(
        [content if prose else _without_prose(table, content) for content in contents]
    )


def read_rows(table: Table, file: Path) -> list[Row]:
    """The rows of one file of `table`, as plain Python values; columns as `read_landed` gives them.

    Raises:
        PublicationError: as `read_landed`.
    """
    rows: list[Row] = read_landed(table, [file]).to_pylist()
    return rows


def _read(file: Path) -> pa.Table:
    try:
        with pq.ParquetFile(
            pa.py_buffer(read_bytes(file, _MOST_FILE_BYTES)), page_checksum_verification=True
        ) as parquet:
            content = parquet.read(use_threads=False)
        content.validate(full=True)  # damaged pages may decode to texts that are none
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _unreadable(file, error) from error
    return content


def _unreadable(file: Path, error: Exception) -> PublicationError:
    return PublicationError(
        f"{file} cannot be read ({_line(error)}): remove its folder and run again"
    )


def _conforming(content: pa.Table, schema: pa.Schema, file: Path) -> pa.Table:
    differing = sorted(set(content.column_names) ^ set(schema.names))
    if differing:
        raise PublicationError(
            f"{file} and its table differ in columns ({', '.join(differing)}): another version of"
            " Assay wrote it; remove its folder and run again"
        )
    try:
        arrays = [_cast(content.column(field.name), field.type) for field in schema]
    except pa.ArrowException as error:
        raise PublicationError(f"{file} does not fit its table: {_line(error)}") from error
    return pa.Table.from_arrays(arrays, schema=schema)


def _cast(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return values if values.type == kind else values.cast(kind)


def _without_prose(table: Table, content: pa.Table) -> pa.Table:
    for position, column in enumerate(table.columns):
        if column.type is ColumnType.TEXT:
            content = content.set_column(
                position, column.name, pc.utf8_slice_codeunits(content.column(column.name), 0, 1)
            )
    return content


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
