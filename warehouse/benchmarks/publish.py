"""Publication of a benchmark: validated, then put into the lake in one transaction, beside the others."""

from datetime import UTC, datetime

import duckdb
import pyarrow as pa

from schemas.errors import PublicationError
from schemas.identifiers import RunId, content_hash
from schemas.tables import TABLE
from warehouse.answers import Publication, ValidationReport
from warehouse.benchmarks.landing import LANDED_TABLES, read_benchmark_receipt
from warehouse.landed import read_landed
from warehouse.layout import Layout
from warehouse.statements import table_statement
from warehouse.unit_publish import Unit, insert, publish_unit, validation_rows

_UNTOLD = ("published_at", "landing_sha256", "started_at", "finished_at", "created_at")


def publish_benchmark(
    layout: Layout, run_id: RunId, *, catalogue_url: str | None = None, wait_seconds: float = 60.0
) -> Publication:
    """Validate what a benchmark landed and put it into the lake, whole or not at all; publishing what is there changes nothing.

    Raises:
        PublicationError: it has not landed, or its files do not hold what its receipt says.
        TransientError: another publisher is still at work.
    """
    receipt = read_benchmark_receipt(layout, run_id)
    if receipt is None:
        raise PublicationError(f"benchmark {run_id} has not landed: run it first")
    landed = {
        name: _landed(layout, run_id, name, receipt.rows.get(name, 0)) for name in LANDED_TABLES
    }
    digest = content_hash(*(_told(name, rows) for name, rows in landed.items()))
    unit = Unit(
        run_id=run_id,
        digest=digest,
        published_digest=lambda connection: _published_digest(connection, run_id),
        validate=lambda: _validate(run_id, landed),
        replace=lambda connection, validation: _replace(
            connection, run_id, landed, digest, validation
        ),
    )
    return publish_unit(layout, unit, catalogue_url=catalogue_url, wait_seconds=wait_seconds)


def _landed(layout: Layout, run_id: RunId, name: str, expected: int) -> pa.Table:
    files = [layout.benchmark(run_id) / f"{name}.parquet"] if expected else []
    rows = read_landed(TABLE[name], files)
    if len(rows) != expected:
        raise PublicationError(
            f"benchmark {run_id} was not published: its files hold {len(rows)} rows of {name}, its receipt says {expected}"
        )
    return rows


def _told(name: str, rows: pa.Table) -> str:
    """What is published but for when: the same benchmark run again publishes nothing."""
    kept = rows.drop_columns([column for column in _UNTOLD if column in rows.column_names])
    return content_hash(name, ", ".join(kept.column_names), str(kept.to_pylist()))


def _published_digest(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> str | None:
    row = connection.execute(
        "select landing_sha256 from benchmarks where run_id = ?", [run_id]
    ).fetchone()
    return row[0] if row else None


def _validate(run_id: RunId, landed: dict[str, pa.Table]) -> ValidationReport:
    from warehouse.rules import Rules, stated
    from warehouse.unit_validate import validate_units

    tables = tuple(TABLE[name] for name in LANDED_TABLES)
    return validate_units(
        run_id,
        Rules(rules=stated("benchmark_checks", about="benchmark_scores"), tables=tables),
        [landed],
    )


def _replace(
    connection: duckdb.DuckDBPyConnection,
    run_id: RunId,
    landed: dict[str, pa.Table],
    digest: str,
    validation: ValidationReport,
) -> dict[str, int]:
    for name in (*LANDED_TABLES, "validations"):
        connection.execute(table_statement("delete_run", table=name), {"run_id": run_id})
    for name, rows in landed.items():
        insert(connection, TABLE[name], rows if name != "benchmarks" else _head(rows, digest))
    insert(connection, TABLE["validations"], validation_rows(validation))
    return {name: len(rows) for name, rows in landed.items()}


def _head(rows: pa.Table, digest: str) -> pa.Table:
    for name, value in (("landing_sha256", digest), ("published_at", datetime.now(UTC))):
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(
            place,
            rows.schema.field(place),
            pa.array([value] * len(rows), type=rows.schema.field(place).type),
        )
    return rows
