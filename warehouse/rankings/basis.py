"""What a ranking rests on: the evaluations of its run as they are published."""

import duckdb

from schemas.identifiers import RunId, content_hash
from warehouse.statements import statement


def basis_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> str:
    """Hash over which ideas of the run were evaluated, how, and when; an idea evaluated again changes it."""
    rows = connection.execute(
        statement("tables", "evaluations_of_run"), {"run_id": run_id}
    ).fetchall()
    return content_hash(*(" ".join(str(value) for value in row) for row in rows))
