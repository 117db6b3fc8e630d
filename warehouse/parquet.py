"""Rows to Parquet, held against the table's Arrow schema, and back."""

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.columns import Table
from schemas.errors import PublicationError
from warehouse.rows import Row


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """`rows` in the table's Arrow schema.

    Raises:
        PublicationError: a row lacks a column, has one too many, or holds a value the column does not take.
    """
    names = set(table.column_names)
    for position, row in enumerate(rows):
        if row.keys() != names:
            raise PublicationError(
                f"row {position} of {table.name}: missing {sorted(names - row.keys())}, unknown {sorted(row.keys() - names)} columns"
            )
    arrays = []
    for column in table.columns:
        values = [row[column.name] for row in rows]
        if not column.nullable and any(value is None for value in values):
            raise PublicationError(f"{table.name}.{column.name} is NULL in row {values.index(None)}, and it may not be")
        arrays.append(_array(table, column.arrow_field, values))
    return pa.Table.from_arrays(arrays, schema=table.arrow_schema)


def _array(table: Table, field: pa.Field, values: list[object]) -> pa.Array:
    try:
        return pa.array(values, type=field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError, TypeError) as error:
        raise PublicationError(f"{table.name}.{field.name} takes {field.type}: {' '.join(str(error).split())[:300]}") from error


def write_rows(table: Table, rows: Sequence[Row], path: Path) -> int:
    """Write `rows` to `path` and return its size in bytes. Raises PublicationError for a wrong row."""
    sink = pa.BufferOutputStream()
    pq.write_table(arrow_table(table, rows), sink, compression="zstd", store_schema=False)
    return write_bytes(path, sink.getvalue())


def write_bytes(path: Path, content: bytes | pa.Buffer) -> int:
    """Write `content` through to the disk, so that a rename never outlives what it names; returns the size in bytes."""
    with path.open("wb") as file:
        written = file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return written


def read_rows(path: Path) -> list[Row]:
    """The rows of one Parquet file, as plain Python values."""
    rows: list[Row] = pq.ParquetFile(path).read().to_pylist()
    return rows


def read_row_count(path: Path) -> int:
    """How many rows a Parquet file holds."""
    count: int = pq.ParquetFile(path).metadata.num_rows
    return count
