"""The landed files of a table, for DuckDB to read."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from schemas.columns import Table
from schemas.evaluation import Receipt
from warehouse.layout import Layout
from warehouse.statements import quoted

_FILES_PER_BATCH = 500


def landed_files(layout: Layout, table: Table, receipts: Sequence[Receipt]) -> list[Path]:
    """The files that hold rows of `table`: only what a receipt vouches for."""
    return [
        layout.idea(receipt.run_id, receipt.evaluation_key) / f"{table.name}.parquet"
        for receipt in receipts
        if receipt.rows.get(table.name)
    ]


def in_batches(files: Sequence[Path]) -> Iterator[Sequence[Path]]:
    """`files` in batches that one statement can open at once, whatever the size of the run."""
    for start in range(0, len(files), _FILES_PER_BATCH):
        yield files[start : start + _FILES_PER_BATCH]


def scan(files: Sequence[Path]) -> str:
    """`read_parquet(…)` over `files`. Folder names such as `run=…` are not read as columns."""
    paths = ", ".join(quoted(str(file)) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"
