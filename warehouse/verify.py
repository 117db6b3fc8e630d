"""Is the lake what it should be? Reads everything, changes nothing."""

from collections.abc import Collection, Sequence
from pathlib import Path

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.benchmark import BenchmarkReceipt
from schemas.check_run import CheckReceipt
from schemas.evaluation import Receipt
from schemas.identifiers import RunId
from schemas.ranking import GroupReceipt
from schemas.tables import IDEA_TABLES, TABLE, TABLES
from warehouse.benchmarks.landing import LANDED_TABLES
from warehouse.lake import lake_tables, one_line, open_reader
from warehouse.landing import LEFTOVERS
from warehouse.layout import Layout
from warehouse.manuscripts.rows import PART_TABLES
from warehouse.rankings.landing import GROUP_TABLES
from warehouse.statements import MARTS, table_statement
from warehouse.verify_landing import read_count, read_units


class VerifyReport(Noun):
    """What verification found. Sound: no problem."""

    runs: int = Field(ge=0, description="Published runs.")
    rows: dict[str, int] = Field(description="Rows by table; tables that could not be read are missing.")
    problems: tuple[str, ...] = Field(description="One line each: what is wrong and how to mend it.")
    notices: tuple[str, ...] = Field(description="What is not wrong but worth knowing.")

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(layout: Layout, *, catalogue_url: str | None = None) -> VerifyReport:
    """Check that every file is there, every table and mart reads, the rows are those the receipts promise, and nothing landed in vain.

    Raises:
        ConfigurationError: there is no lake, or its catalogue cannot be opened.
    """
    problems: list[str] = []
    notices: list[str] = []
    with open_reader(layout, catalogue_url=catalogue_url) as connection:
        problems += _missing_files(connection, layout)
        rows, unreadable = _readable(connection)
        problems += unreadable
        published = {RunId(row[0]) for row in connection.execute("select run_id from runs").fetchall()} if "runs" in rows else set()
        for folder in sorted(layout.landing.glob("run=*")):
            run_id = RunId(folder.name.removeprefix("run="))
            receipts = read_units(folder, "idea=*", Receipt, problems)
            if run_id in published:
                problems += _against_receipts(connection, layout, run_id, receipts, rows.keys())
            elif "runs" in rows:
                problems.append(_unpublished(layout, run_id))
            problems += _rankings(connection, layout, run_id) if "rankings" in rows else []
        problems += _checks(connection, layout) if "check_runs" in rows else []
        problems += _benchmarks(connection, layout) if "benchmarks" in rows else []
    for folder in layout.building_places():
        left = [path for path in folder.iterdir() if path.name.startswith(LEFTOVERS)]
        if left:
            notices.append(f"{folder} holds {len(left)} unfinished folders of killed workers: `assay warehouse compact` removes them")
    return VerifyReport(runs=len(published), rows=rows, problems=tuple(problems), notices=tuple(notices))


def _missing_files(connection: duckdb.DuckDBPyConnection, layout: Layout) -> list[str]:
    problems = []
    held = lake_tables(connection)
    for table in (table for table in TABLES if table.name in held):
        sql = "select data_file, data_file_size_bytes, delete_file from ducklake_list_files('lake', ?)"
        for data_file, size, delete_file in connection.execute(sql, [table.name]).fetchall():
            for name in filter(None, (data_file, delete_file)):
                if "://" not in name and not Path(name).exists():
                    problems.append(f"{table.name}: {name} is missing; put it back into {layout.data} or publish its run anew")
            if "://" not in data_file and Path(data_file).exists() and Path(data_file).stat().st_size != size:
                problems.append(f"{table.name}: {data_file} has not the {size} bytes it was written with; publish its run anew")
    return problems


def _readable(connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, int], list[str]]:
    rows, problems = {}, []
    for name in (*(table.name for table in TABLES), *MARTS):
        try:
            found = connection.execute(table_statement("read_every_row", table=name)).fetchall()[0][0]
        except duckdb.Error as error:
            problems.append(f"{name} cannot be read: {one_line(error)}")
        else:
            rows[name] = int(found)
    return rows, problems


def _against_receipts(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    run_id: RunId,
    receipts: Sequence[Receipt],
    readable: Collection[str],
) -> list[str]:
    problems: list[str] = []
    expected = {table.name: sum(receipt.rows.get(table.name, 0) for receipt in receipts) for table in IDEA_TABLES}
    if layout.rejections(run_id).exists():
        rejected = read_count(layout.rejections(run_id), "failures", problems)
        if rejected is None:
            del expected["failures"]
        else:
            expected["failures"] += rejected
    for name, count in expected.items():
        if name not in readable:
            continue
        count_of = "count_evaluated" if TABLE[name].shared_with_rankings else "count_rows_of_run"
        found = connection.execute(table_statement(count_of, table=name), {"run_id": run_id}).fetchall()[0][0]
        if found != count:
            problems.append(
                f"run {run_id}: {found} rows of {name} are published, its receipts say {count}; run it again to publish it anew"
            )
    return problems


def _rankings(connection: duckdb.DuckDBPyConnection, layout: Layout, run_id: RunId) -> list[str]:
    """Published rankings with other rows than their groups' receipts say."""
    published = connection.execute("select ranking_id from rankings where run_id = ?", [run_id]).fetchall()
    problems: list[str] = []
    for (ranking_id,) in published:
        receipts = read_units(layout.ranking(run_id, ranking_id), "group=*", GroupReceipt, problems)
        for name in GROUP_TABLES:
            count = connection.execute(table_statement("count_ranking", table=name), {"run_id": run_id, "ranking_id": ranking_id})
            found, expected = count.fetchall()[0][0], sum(receipt.rows.get(name, 0) for receipt in receipts)
            if receipts and found != expected:
                problems.append(f"ranking {ranking_id}: {found} rows of {name} are published, its receipts say {expected}; rank again")
    return problems


def _checks(connection: duckdb.DuckDBPyConnection, layout: Layout) -> list[str]:
    """Checks of manuscripts that landed whole and are not published, or with other rows than their receipts say."""
    published = {row[0] for row in connection.execute("select run_id from check_runs").fetchall()}
    problems: list[str] = []
    for folder in sorted(layout.landing.glob("check=*")):
        run_id = RunId(folder.name.removeprefix("check="))
        receipts = read_units(folder, "part=*", CheckReceipt, problems)
        if run_id not in published:
            if layout.check_head(run_id).exists():
                problems.append(f"check {run_id} has landed but is not published: run it again to finish it, or remove {folder}")
            continue
        for name in PART_TABLES:
            count = connection.execute(table_statement("count_rows_of_run", table=name), {"run_id": run_id}).fetchall()[0][0]
            expected = sum(receipt.rows.get(name, 0) for receipt in receipts)
            if receipts and count != expected:
                problems.append(f"check {run_id}: {count} rows of {name} are published, its receipts say {expected}; check again")
    return problems


def _benchmarks(connection: duckdb.DuckDBPyConnection, layout: Layout) -> list[str]:
    """Benchmarks that landed and are not published, or with other rows than their receipts say."""
    published = {row[0] for row in connection.execute("select run_id from benchmarks").fetchall()}
    problems: list[str] = []
    for receipt in read_units(layout.landing, "benchmark=*", BenchmarkReceipt, problems):
        if receipt.run_id not in published:
            folder = layout.benchmark(receipt.run_id)
            problems.append(f"{receipt.run_id} has landed but is not published: run it again to finish it, or remove {folder}")
            continue
        for name in LANDED_TABLES:
            count = connection.execute(table_statement("count_rows_of_run", table=name), {"run_id": receipt.run_id}).fetchall()[0][0]
            expected = receipt.rows.get(name, 0)
            if count != expected:
                problems.append(
                    f"{receipt.run_id}: {count} rows of {name} are published, its receipt says {expected}; remove its folder, run it again"
                )
    return problems


def _unpublished(layout: Layout, run_id: RunId) -> str:
    if layout.validation(run_id).exists():
        return f"run {run_id} has landed but is not published: see {layout.validation(run_id)}"
    return f"run {run_id} has landed but is not published: run it again to finish it, or remove {layout.run(run_id)}"
