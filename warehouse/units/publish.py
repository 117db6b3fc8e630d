"""Publication: landed files are validated, and committed to the lake in one transaction."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import pyarrow as pa

from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import PublicationError
from schemas.identifiers import content_hash
from schemas.run import HANDFUL, UnitReceipt
from schemas.tables import TABLE, TABLES
from warehouse.app.records import fold
from warehouse.catalogue.connection import Connection, share_out
from warehouse.catalogue.definitions import apply_definitions
from warehouse.lake import insert, transaction
from warehouse.ledger import record_head
from warehouse.parquet import arrow_table, in_batches, read_bytes, read_landed, replace_bytes
from warehouse.row_models import Publication, ValidationReport
from warehouse.rows import row_of
from warehouse.statements import table_statement
from warehouse.units.bucket import upload_work
from warehouse.units.eviction import restore_files
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.landing import (
    extra_row_files,
    iterate_receipts,
    landed_files,
    work_files,
)
from warehouse.units.later_validation import WORKS_TOGETHER, unvalidated_works, validate_works
from warehouse.units.ledger_entries import record
from warehouse.units.validate import validate
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)
_TIMES = {"started_at", "finished_at", "duration_seconds"}


def publish(
    warehouse: Warehouse, kind: Kind[Any, Any, HeadT], head: HeadT, *, wait_seconds: float = 60.0
) -> Publication:
    """Validate the landed files of a work, and publish all or nothing.

    Publishing again replaces its rows, or changes nothing if they are the same. Work that breaks a
    critical expectation stays in landing with `validation.json`, and is returned as not published.

    Args:
        wait_seconds: how long to wait for another publisher to finish.

    Raises:
        PublicationError: landed files do not match their receipts, or an input of the work has
            changed.
        TransientError: another publisher holds the lock.
        ConfigurationError: the catalogue or a receipt cannot be read.
    """
    names = kind.names(head)
    receipts = tuple(iterate_receipts(warehouse, kind, *names))
    head = head.concluded(receipts)
    digest = _digest(warehouse, kind, head, receipts)
    with warehouse.publisher(wait_seconds=wait_seconds) as connection:
        with transaction(connection, kind.title(*names)):
            apply_definitions(connection)
        fold(connection, warehouse)
        published_digest = _published_digest(connection, kind, names)
        is_unchanged = published_digest == digest
        if not is_unchanged:
            restore_files(connection, warehouse, kind, receipts)
        validation = None if is_unchanged else _validate(warehouse, kind, head, receipts, digest)
        has_passed = validation is None or validation.passed
        if has_passed:
            upload_work(
                warehouse, kind.folder(warehouse, *names), work_files(warehouse, kind, *names)
            )
        rows = _counts(connection, kind, names) if is_unchanged else {}
        if validation is not None and has_passed:
            share_out(connection, sum(sum(receipt.rows.values()) for receipt in receipts))
            with transaction(connection, kind.title(*names)):
                # A withdrawn ranking has left its calls.
                if published_digest is not None or kind.is_nested:
                    _delete(connection, kind, names)
                rows = _insert(connection, warehouse, kind, head, receipts, digest, validation)
                record(connection, kind, head, digest, rows)
            record_head(connection, warehouse)
            if len(receipts) > HANDFUL:
                _validate_waiting(connection, kind)
        return Publication(
            run_id=kind.run_id(*names),
            published=has_passed,
            unchanged=is_unchanged,
            rows=rows,
            validation=validation,
        )


def _validate(
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT, HeadT],
    head: HeadT,
    receipts: Sequence[ReceiptT],
    digest: str,
) -> ValidationReport:
    names = kind.names(head)
    report = validate(warehouse, kind, names, receipts, head_rows(kind, head, digest))
    document = report.model_dump(mode="json") | {"passed": report.passed}
    content = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    replace_bytes(kind.validation_file(warehouse, *names), content)
    return report


def _validate_waiting(connection: Connection, kind: Kind) -> None:
    """Validate small works that were published earlier: Great Expectations is imported now."""
    boundary = ErrorBoundary()  # a failure leaves the others waiting
    with boundary:
        result = validate_works(
            connection, kind, unvalidated_works(connection, kind)[:WORKS_TOGETHER]
        )
        for line in result.broken:
            logger.warning("published before: %s", line)
    if boundary.error is not None:
        logger.warning("not validated: %s", error_line(boundary.error))


def _digest(
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT, HeadT],
    head: HeadT,
    receipts: Sequence[ReceiptT],
) -> str:
    """Return a hash of everything published, except the times of the head.

    A rerun that finds all done therefore publishes nothing.
    """
    file_hashes = (
        content_hash(read_bytes(path).hex())
        for _, path in extra_row_files(warehouse, kind, *kind.names(head))
    )
    columns = "; ".join(f"{table.name}({', '.join(table.column_names)})" for table in TABLES)
    head_json = head.model_dump_json(exclude=_TIMES)
    return content_hash(
        head_json, *file_hashes, columns, *(receipt.model_dump_json() for receipt in receipts)
    )


def _published_digest(connection: Connection, kind: Kind, names: tuple[str, ...]) -> str | None:
    table = TABLE[kind.head_table]
    sql = table_statement("published_digest", table=table.name, condition=kind.condition(table))
    row = connection.execute(sql, kind.parameters(*names)).fetchone()
    return (row[0] or "") if row else None


def _delete(connection: Connection, kind: Kind, names: tuple[str, ...]) -> None:
    for table in kind.published_tables:
        sql = table_statement("delete_rows", table=table.name, condition=kind.condition(table))
        connection.execute(sql, kind.parameters(*names))


def _insert(
    connection: Connection,
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT, HeadT],
    head: HeadT,
    receipts: Sequence[ReceiptT],
    digest: str,
    validation: ValidationReport,
) -> dict[str, int]:
    names = kind.names(head)
    for table in (TABLE[name] for name in kind.tables):
        for files in in_batches(landed_files(warehouse, kind, table, receipts)):
            insert(connection, table, read_landed(table, files))
    extra_counts = {}
    for table, path in extra_row_files(warehouse, kind, *names):
        extra_rows = read_landed(table, [path])
        extra_counts[table.name] = len(extra_rows)
        insert(connection, table, extra_rows)
    insert(connection, TABLE[kind.head_table], head_rows(kind, head, digest))
    validations = TABLE["validations"]
    rows = [row_of(validations, row, {}) for row in validation.rows]
    insert(connection, validations, arrow_table(validations, rows))
    kind.settle(connection, head)
    counts = _counts(connection, kind, names)
    _check_counts(counts, extra_counts, kind, names, receipts)
    return counts


def head_rows(kind: Kind[Any, Any, HeadT], head: HeadT, digest: str) -> pa.Table:
    table = TABLE[kind.head_table]
    publication_columns = {"landing_sha256": digest, "published_at": datetime.now(UTC)}
    return arrow_table(table, [row_of(table, head, head.columns() | publication_columns)])


def _check_counts(
    counts: dict[str, int],
    extra_counts: dict[str, int],
    kind: Kind,
    names: tuple[str, ...],
    receipts: Sequence[UnitReceipt],
) -> None:
    for name in kind.tables:
        expected_count = sum(receipt.rows.get(name, 0) for receipt in receipts)
        expected_count += extra_counts.get(name, 0)
        if counts[name] != expected_count:
            raise PublicationError(
                f"{kind.title(*names)} was not published: its files hold {counts[name]} rows of "
                f"{name}, its receipts say {expected_count}"
            )


def _counts(connection: Connection, kind: Kind, names: tuple[str, ...]) -> dict[str, int]:
    statements = (
        table_statement("count_rows", table=table.name, condition=kind.condition(table))
        for table in kind.published_tables
    )
    sql = " union all ".join(statements)  # one query, since each looks up the snapshot
    return dict(connection.execute(sql, kind.parameters(*names)).fetchall())
