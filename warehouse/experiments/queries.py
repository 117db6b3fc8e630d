"""What readers ask about experiments. Only published ones are seen."""

import duckdb

from schemas.base import Noun
from schemas.errors import UnknownNameError
from schemas.experiment import Execution, Experiment, Program
from schemas.experiment_run import ExperimentHead
from schemas.failure import Failure
from schemas.identifiers import RunId
from warehouse.lake import rows_in
from warehouse.rows import Row, noun_of
from warehouse.statements import statement, table_statement

_PARTS: dict[str, tuple[str, type[Noun]]] = {
    "programs": ("programs", Program),
    "executions": ("executions", Execution),
    "failures": ("failures", Failure),
}


def experiment_heads(connection: duckdb.DuckDBPyConnection) -> tuple[ExperimentHead, ...]:
    """Published runs of experiments, newest first."""
    rows = rows_in(connection, statement("queries", "experiment_runs"))
    return tuple(noun_of(ExperimentHead, row) for row in rows)


def experiment_head(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> ExperimentHead:
    """One of them. Raises UnknownNameError when it is not published."""
    for head in experiment_heads(connection):
        if head.run_id == run_id:
            return head
    raise UnknownNameError(
        f"experiment {run_id} is not published; the table experiment_runs lists those that are"
    )


def experiments_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> tuple[Experiment, ...]:
    """Every experiment of a run as it was landed, calls apart, by the names of their tasks."""
    tables = {name for name, _ in _PARTS.values()}
    rows = {name: _rows(connection, name, run_id) for name in ("experiments", *sorted(tables))}
    tasks = sorted(rows["experiments"], key=lambda row: str(row["task_id"]))
    return tuple(_experiment(row, rows) for row in tasks)


def _rows(connection: duckdb.DuckDBPyConnection, table: str, run_id: RunId) -> list[Row]:
    sql = table_statement("rows_of_run", table=table)
    return rows_in(connection, sql, {"run_id": run_id})


def _experiment(row: Row, rows: dict[str, list[Row]]) -> Experiment:
    task_id = row["task_id"]
    parts = {
        field: tuple(
            noun_of(noun, each)
            for each in rows[table]
            if each.get("task_id", each.get("idea_id")) == task_id
        )
        for field, (table, noun) in _PARTS.items()
    }
    return noun_of(Experiment, row | parts)
