"""Export of the lake to a plain `.duckdb` file."""

from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa

from schemas.columns import Table
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.tables import TABLES
from warehouse.catalogue.connection import Connection
from warehouse.lake import one_line
from warehouse.statements import MARTS, meaning, quoted, statement, table_statement
from warehouse.warehouse import Warehouse

_FILES_OF_A_DATABASE = ("", ".wal", ".wal.checkpoint", ".wal.recovery")


def export_lake(warehouse: Warehouse, target: Path) -> dict[str, int]:
    """Write one snapshot of the lake to `target`, atomically.

    Returns:
        Rows by table.

    Raises:
        ConfigurationError: there is no lake, or `target` cannot be written.
    """
    if target.is_dir():
        raise ConfigurationError(
            f"{target} is a folder: name a file, such as {target / 'assay.duckdb'}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    building = target.absolute().with_name(f".{target.name}.{uuid4().hex}")
    files = [building.with_name(f"{building.name}{suffix}") for suffix in _FILES_OF_A_DATABASE]
    try:
        with warehouse.reader(as_defined=False, files=files) as connection:
            rows = _fill(connection, building)
        building.replace(target)
    except (duckdb.Error, OSError) as error:
        reason = one_line(error) if isinstance(error, duckdb.Error) else str(error)
        raise ConfigurationError(f"the lake could not be exported to {target}: {reason}") from error
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    return rows


def rows_of_run(connection: Connection, name: str, run_id: RunId) -> pa.Table:
    """Return a table's rows of a run and its rankings."""
    sql = table_statement("rows_of", table=name, condition="run_id = $run_id")
    return connection.execute(sql, {"run_id": run_id}).fetch_arrow_table()


def _fill(connection: Connection, path: Path) -> dict[str, int]:
    connection.execute(f"attach {quoted(str(path))} as exported")
    connection.execute("use exported")
    connection.execute("begin")
    rows = {}
    for table in TABLES:
        connection.execute(table.ddl)
        source = f'lake."{table.name}"'
        connection.execute(table_statement("insert", table=table.name, source=source))
        rows[table.name] = int(
            connection.execute(
                table_statement("count_rows", table=table.name, condition="true")
            ).fetchall()[0][1]
        )
        _comment(connection, table)
    for name in MARTS:
        connection.execute(f"create view {name} as {statement('marts', name)}")
        description = quoted(meaning(statement("marts", name)))
        connection.execute(f"comment on view {name} is {description}")
    connection.execute("commit")
    connection.execute("use memory")
    connection.execute("detach exported")
    return rows


def _comment(connection: Connection, table: Table) -> None:
    """Add the data dictionary as comments on table and columns."""
    connection.execute(f'comment on table "{table.name}" is {quoted(table.meaning)}')
    for column in table.columns:
        place = f'"{table.name}"."{column.name}"'
        connection.execute(f"comment on column {place} is {quoted(column.meaning)}")
