"""Publication of a check run: validated, then put into the lake in one transaction."""

from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from schemas.check_run import CheckHead, CheckReceipt
from schemas.identifiers import RunId, content_hash
from schemas.tables import TABLE
from warehouse.answers import Publication, ValidationReport
from warehouse.landed import read_landed
from warehouse.layout import Layout
from warehouse.manuscripts.landing import iterate_check_receipts
from warehouse.manuscripts.rows import PART_TABLES
from warehouse.statements import table_statement
from warehouse.unit_publish import (
    Unit,
    counted_rows,
    head_rows,
    insert,
    publish_unit,
    validation_rows,
)

_PARTS_AT_ONCE = 50


def publish_check(
    layout: Layout, head: CheckHead, *, catalogue_url: str | None = None, wait_seconds: float = 60.0
) -> Publication:
    """Validate what a check run landed and put it into the lake, whole or not at all.

    Publishing again replaces its rows; publishing what is there changes nothing.

    Raises:
        PublicationError: files do not hold what receipts say.
        TransientError: another publisher is still at work.
    """
    receipts = tuple(iterate_check_receipts(layout, head.run_id))
    digest = content_hash(
        head.model_dump_json(exclude={"started_at", "finished_at"}),
        *(receipt.model_dump_json() for receipt in receipts),
    )
    unit = Unit(
        run_id=head.run_id,
        digest=digest,
        published_digest=lambda connection: _published_digest(connection, head.run_id),
        validate=lambda: _validate(layout, head.run_id, receipts),
        replace=lambda connection, validation: _replace_check(
            connection, layout, head, receipts, digest, validation
        ),
    )
    return publish_unit(layout, unit, catalogue_url=catalogue_url, wait_seconds=wait_seconds)


def landed_parts(
    layout: Layout, receipts: Sequence[CheckReceipt], *, prose: bool = True
) -> Iterator[dict[str, pa.Table]]:
    """The rows of landed parts by table, some parts at a time."""
    for start in range(0, len(receipts), _PARTS_AT_ONCE):
        batch = receipts[start : start + _PARTS_AT_ONCE]
        yield {
            name: read_landed(
                TABLE[name],
                [
                    layout.check_part(receipt.run_id, receipt.part) / f"{name}.parquet"
                    for receipt in batch
                    if receipt.rows.get(name)
                ],
                prose=prose,
            )
            for name in PART_TABLES
        }


def _published_digest(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> str | None:
    row = connection.execute(
        "select landing_sha256 from check_runs where run_id = ?", [run_id]
    ).fetchone()
    return row[0] if row else None


def _validate(layout: Layout, run_id: RunId, receipts: Sequence[CheckReceipt]) -> ValidationReport:
    from warehouse.rules import Rules, stated
    from warehouse.unit_validate import validate_units

    rules = Rules(
        rules=stated("check_checks", about="attempts"),
        tables=tuple(TABLE[name] for name in PART_TABLES),
    )
    return validate_units(run_id, rules, landed_parts(layout, receipts, prose=False))


def _replace_check(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    head: CheckHead,
    receipts: Sequence[CheckReceipt],
    digest: str,
    validation: ValidationReport,
) -> dict[str, int]:
    for name in (*PART_TABLES, "check_runs", "validations"):
        connection.execute(table_statement("delete_run", table=name), {"run_id": head.run_id})
    for chunk in landed_parts(layout, receipts):
        for name, rows in chunk.items():
            insert(connection, TABLE[name], rows)
    insert(connection, TABLE["check_runs"], head_rows(TABLE["check_runs"], head, digest))
    insert(connection, TABLE["validations"], validation_rows(validation))
    return counted_rows(
        connection,
        f"check {head.run_id}",
        PART_TABLES,
        "count_rows_of_run",
        {"run_id": head.run_id},
        receipts,
    )
