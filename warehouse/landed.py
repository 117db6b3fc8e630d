"""The landed files of a table, read with what their receipts vouch for and nothing else."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.columns import ColumnType, Table
from schemas.errors import PublicationError
from warehouse.parquet import read_bytes
from warehouse.rows import Row

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
