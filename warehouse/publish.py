"""Write, audit, publish: landed files are validated, then one transaction puts the whole run into the lake."""

from collections.abc import Sequence

import duckdb
import orjson
import pyarrow as pa

from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.evaluation import Receipt
from schemas.identifiers import RunId, content_hash
from schemas.run import Run
from schemas.tables import EVALUATION_TABLES, IDEA_TABLES, RANKING_TABLES, TABLE, TABLES
from warehouse.answers import Publication, ValidationReport
from warehouse.landed import in_batches, landed_files, read_landed
from warehouse.landing import iterate_receipts
from warehouse.layout import Layout
from warehouse.parquet import write_bytes
from warehouse.rankings.basis import basis_of
from warehouse.statements import statement, table_statement
from warehouse.unit_publish import Unit, head_rows, insert, publish_unit, validation_rows


def publish_run(
    layout: Layout, run: Run, *, catalogue_url: str | None = None, wait_seconds: float = 60.0
) -> Publication:
    """Validate what a run landed and put it into the lake, whole or not at all.

    Publishing again replaces the run's rows; publishing what is already there changes nothing. A run that breaks a
    critical expectation stays in landing, its result beside it in `validation.json`, and the report says so.

    Args:
        catalogue_url: a PostgreSQL connection string; None: an SQLite file in the warehouse.
        wait_seconds: how long to wait for another publisher to finish.

    Raises:
        PublicationError: the landed files do not hold what their receipts say.
        TransientError: another publisher is still at work.
        ConfigurationError: the catalogue cannot be opened.
    """
    receipts = tuple(iterate_receipts(layout, run.run_id))
    digest = _digest(layout, run, receipts)
    unit = Unit(
        run_id=run.run_id,
        digest=digest,
        published_digest=lambda connection: _published_digest(connection, run.run_id),
        validate=lambda: _validate(layout, run.run_id, receipts),
        replace=lambda connection, validation: _replace_run(
            connection, layout, run, receipts, digest, validation
        ),
        held=lambda connection: _counts(connection, run.run_id),
    )
    return publish_unit(layout, unit, catalogue_url=catalogue_url, wait_seconds=wait_seconds)


def _validate(layout: Layout, run_id: RunId, receipts: Sequence[Receipt]) -> ValidationReport:
    from warehouse.validate import validate_run

    report = validate_run(layout, run_id, receipts)
    path = layout.validation(run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_suffix(".building")
    write_bytes(
        building,
        orjson.dumps(
            report.model_dump(mode="json") | {"passed": report.passed}, option=orjson.OPT_INDENT_2
        ),
    )
    building.replace(path)
    return report


def _digest(layout: Layout, run: Run, receipts: Sequence[Receipt]) -> str:
    """Over everything published except when the run happened to end: a rerun that found all done publishes nothing."""
    told = run.model_dump_json(exclude={"started_at", "finished_at", "duration_seconds"})
    rejections = layout.rejections(run.run_id)
    rejected = content_hash(rejections.read_bytes().hex()) if rejections.exists() else ""
    columns = "; ".join(f"{table.name}({', '.join(table.column_names)})" for table in TABLES)
    return content_hash(
        told, rejected, columns, *(receipt.model_dump_json() for receipt in receipts)
    )


def _published_digest(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> str | None:
    row = connection.execute(
        "select landing_sha256 from runs where run_id = ?", [run_id]
    ).fetchone()
    return row[0] if row else None


def _replace_run(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    run: Run,
    receipts: Sequence[Receipt],
    digest: str,
    validation: ValidationReport,
) -> dict[str, int]:
    for table in EVALUATION_TABLES:
        name = "delete_evaluated" if table.shared_with_rankings else "delete_run"
        connection.execute(table_statement(name, table=table.name), {"run_id": run.run_id})
    for table in IDEA_TABLES:
        for files in in_batches(landed_files(layout, table, receipts)):
            insert(connection, table, read_landed(table, files))
    rejections = layout.rejections(run.run_id)
    rejected = read_landed(TABLE["failures"], [rejections] if rejections.exists() else [])
    insert(connection, TABLE["failures"], rejected)
    insert(connection, TABLE["runs"], run_rows(run, digest))
    insert(connection, TABLE["validations"], validation_rows(validation))
    _drop_stale_rankings(connection, run.run_id)
    return _counted(connection, run.run_id, receipts, len(rejected))


def _drop_stale_rankings(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> None:
    """A ranking of evaluations that are no more ranks nothing; what it cost stays on the bill."""
    connection.execute(
        statement("tables", "delete_stale_rankings"),
        {"run_id": run_id, "basis_sha256": basis_of(connection, run_id)},
    )
    for table in (*RANKING_TABLES, TABLE["validations"]):
        if table.name != "rankings":
            connection.execute(
                table_statement("delete_without_ranking", table=table.name), {"run_id": run_id}
            )


def run_rows(run: Run, digest: str) -> pa.Table:
    """The run's row of `runs`."""
    weights = {f"{module}_weight": weight for module, weight in run.score_weights}
    return head_rows(TABLE["runs"], run, digest, weights)


def _counted(
    connection: duckdb.DuckDBPyConnection,
    run_id: RunId,
    receipts: Sequence[Receipt],
    rejected_count: int,
) -> dict[str, int]:
    """Rows of the run by table, held against the receipts."""
    rows = _counts(connection, run_id)
    for table in IDEA_TABLES:
        expected = sum(receipt.rows.get(table.name, 0) for receipt in receipts) + (
            rejected_count if table.name == "failures" else 0
        )
        if rows[table.name] != expected:
            raise PublicationError(
                f"run {run_id} was not published: its files hold {rows[table.name]} rows of {table.name}, its receipts say {expected}"
            )
    return rows


def _counts(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> dict[str, int]:
    return {table.name: _count(connection, table, run_id) for table in EVALUATION_TABLES}


def _count(connection: duckdb.DuckDBPyConnection, table: Table, run_id: RunId) -> int:
    name = "count_evaluated" if table.shared_with_rankings else "count_rows_of_run"
    row = connection.execute(table_statement(name, table=table.name), {"run_id": run_id}).fetchone()
    return int(row[0]) if row else 0
