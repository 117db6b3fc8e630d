"""Rows as Parquet files, checked against the table's Arrow schema."""

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
from warehouse.scrubbing import known_secrets, mask_secrets

BUILDING = ".building-"
MOST_BYTES = 256_000_000
"""Bound for files read as a whole: several times the largest request or receipt."""


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Return `rows` in the table's Arrow schema, with known secrets masked.

    This is the only way by which text enters the lake.

    Raises:
        PublicationError: a row lacks a column, has one too many, or holds an unfit value.
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
        values = [mask_secrets(row[field.name], secrets) for row in rows]
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
    """Write `rows` to `path`, with page checksums, and return the size in bytes.

    Files are small, many, and read whole: dictionaries and statistics would make them larger, and
    two to three times slower.

    Raises:
        PublicationError: a row does not fit.
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
    """Return the content of a regular file.

    A pipe or device could block or never end, and a link may lead to any file; all are refused.

    Raises:
        OSError: the file is missing, not regular, larger than `most` bytes, or cannot be read.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    extra_flags = os.O_NONBLOCK | os.O_NOFOLLOW
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | extra_flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "It is a pipe, socket or device", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"It has more than {most:,} bytes", str(path))
        return file.read(most)


def write_bytes(path: Path, content: bytes | pa.Buffer) -> int:
    """Write a new file durably, replacing a file or link, and return the size in bytes.

    Syncing ensures that a later rename never survives a crash without the content. Known secrets
    are masked in bytes, such as receipts and reports; Arrow buffers come from masked rows.
    """
    content = mask_secrets(content) if isinstance(content, bytes) else content
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        size = file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return size


def replace_bytes(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file atomically, and create its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"{BUILDING}{path.name}")
    write_bytes(building, content)
    building.replace(path)


_BYTES_PER_BATCH = 16_000_000
_MOST_FILE_BYTES = 2_000_000_000


def in_batches(files: Sequence[Path]) -> Iterator[Sequence[Path]]:
    """Yield `files` in batches of bounded size.

    A batch becomes one file of the lake, and readers open all files.

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
        raise _unreadable_error(file, error) from error


def read_landed(table: Table, files: Sequence[Path], *, prose: bool = True) -> pa.Table:
    """Return the rows of `files` with the columns of `table`.

    For small files this is twice as fast as the database.

    Args:
        prose: False: keep only the first character of texts, to check whether they are empty.

    Raises:
        PublicationError: a file is missing or unreadable, or has other columns or types than its
            table.
    """
    schema = pa.schema([column.arrow_field.with_nullable(True) for column in table.columns])
    if not files:
        return schema.empty_table()
    contents = (_fit_schema(_read(file), schema, file) for file in files)
    return pa.concat_tables(
        [content if prose else _without_prose(table, content) for content in contents]
    )


def read_rows(table: Table, file: Path) -> list[Row]:
    """Return the rows of one file as plain Python values. Raises as `read_landed`."""
    rows: list[Row] = read_landed(table, [file]).to_pylist()
    return rows


def _read(file: Path) -> pa.Table:
    try:
        with pq.ParquetFile(
            pa.py_buffer(read_bytes(file, _MOST_FILE_BYTES)), page_checksum_verification=True
        ) as parquet:
            content = parquet.read(use_threads=False)
        content.validate(full=True)  # damaged pages may decode to invalid text
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _unreadable_error(file, error) from error
    return content


def _unreadable_error(file: Path, error: Exception) -> PublicationError:
    return PublicationError(
        f"{file} cannot be read ({_line(error)}): remove its folder and run again"
    )


def _fit_schema(content: pa.Table, schema: pa.Schema, file: Path) -> pa.Table:
    different_columns = sorted(set(content.column_names) ^ set(schema.names))
    if different_columns:
        raise PublicationError(
            f"{file} and its table differ in columns ({', '.join(different_columns)}): another version of"
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
