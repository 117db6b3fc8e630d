"""Is the lake what it should be? Reads everything, changes nothing."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.benchmark import BenchmarkReceipt
from schemas.check_run import CheckReceipt
from schemas.errors import ConfigurationError
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
from warehouse.unit_publish import Counted
from warehouse.verify_content import LakeContent, LandedContent
from warehouse.verify_landing import read_file, read_units


class VerifyReport(Noun):
    """What verification found. Sound: no problem."""

    runs: int = Field(ge=0, description="Published runs.")
    rows: dict[str, int] = Field(
        description="Rows by table; tables that could not be read are missing."
    )
    problems: tuple[str, ...] = Field(
        description="One line each: what is wrong and how to mend it."
    )
    notices: tuple[str, ...] = Field(description="What is not wrong but worth knowing.")

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(layout: Layout, *, catalogue_url: str | None = None) -> VerifyReport:
    """Check that every file is there, every table and mart reads, the rows are those that landed, and nothing landed in vain.

    Raises:
        ConfigurationError: there is no lake, or its catalogue cannot be opened or read.
    """
    problems: list[str] = []
    notices: list[str] = []
    with open_reader(layout, catalogue_url=catalogue_url) as connection:
        try:
            problems += _missing_files(connection, layout)
            rows, unreadable = _readable(connection)
            problems += unreadable
            comparison = _Comparison(layout, LakeContent(connection), rows.keys())
            published = comparison.run_ids("select run_id from runs") if "runs" in rows else set()
            for folder in sorted(layout.landing.glob("run=*")):
                run_id = RunId(folder.name.removeprefix("run="))
                problems += _run(comparison, run_id, run_id in published, "runs" in rows)
                problems += _rankings(comparison, run_id) if "rankings" in rows else []
            problems += _checks(comparison) if "check_runs" in rows else []
            problems += _benchmarks(comparison) if "benchmarks" in rows else []
        except duckdb.Error as error:
            raise ConfigurationError(
                f"the lake's catalogue cannot be read: {one_line(error)}"
            ) from error
    for folder in layout.building_places():
        left = [path for path in folder.iterdir() if path.name.startswith(LEFTOVERS)]
        if left:
            notices.append(
                f"{folder} holds {len(left)} unfinished folders of killed workers: `assay warehouse compact` removes them"
            )
    return VerifyReport(
        runs=len(published), rows=rows, problems=tuple(problems), notices=tuple(notices)
    )


def _missing_files(connection: duckdb.DuckDBPyConnection, layout: Layout) -> list[str]:
    problems = []
    held = lake_tables(connection)
    for table in (table for table in TABLES if table.name in held):
        sql = "select data_file, data_file_size_bytes, delete_file from ducklake_list_files('lake', ?)"
        for data_file, size, delete_file in connection.execute(sql, [table.name]).fetchall():
            for name in filter(None, (data_file, delete_file)):
                if "://" not in name and not Path(name).exists():
                    problems.append(
                        f"{table.name}: {name} is missing; put it back into {layout.data} or publish its run anew"
                    )
            if (
                "://" not in data_file
                and Path(data_file).exists()
                and Path(data_file).stat().st_size != size
            ):
                problems.append(
                    f"{table.name}: {data_file} has not the {size} bytes it was written with; publish its run anew"
                )
    return problems


def _readable(connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, int], list[str]]:
    rows, problems = {}, []
    for name in (*(table.name for table in TABLES), *MARTS):
        try:
            found = connection.execute(table_statement("read_every_row", table=name)).fetchall()[0][
                0
            ]
        except duckdb.Error as error:
            problems.append(f"{name} cannot be read: {one_line(error)}")
        else:
            rows[name] = int(found)
    return rows, problems


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Holds the lake's rows against those that landed; `readable`: tables and marts of the lake that read."""

    layout: Layout
    lake: LakeContent
    readable: Collection[str]

    def run_ids(self, sql: str) -> set[RunId]:
        return {RunId(row[0]) for row in self.lake.connection.execute(sql).fetchall()}

    def differences(
        self,
        landed: LandedContent,
        about: str,
        expected: Mapping[str, int],
        condition: str,
        remedy: str,
        **ids: str,
    ) -> Iterator[str]:
        """A line for each table whose rows in the lake, those that meet `condition`, are not as many as `expected` or not those landed."""
        for name, count in expected.items():
            if name not in self.readable:
                continue
            where = (
                f"{condition} and ranking_id is null"
                if TABLE[name].shared_with_rankings and "ranking_id" not in ids
                else condition
            )
            found, known = self.lake.of(name, where, ids), landed.of(name)
            if found.rows != count:
                yield f"{about}: {found.rows} rows of {name} are published, its receipts say {count}; {remedy}"
            elif known is not None and known != found:
                yield (
                    f"{about}: the rows of {name} that are published are not those that landed; bring {self.layout.lake} back from a "
                    "copy, or remove it and run its commands again: they publish what has landed and pay for nothing twice"
                )


def _run(
    comparison: _Comparison, run_id: RunId, published: bool, runs_are_known: bool
) -> list[str]:
    """A run that landed and is not published, or with other rows than landed."""
    problems: list[str] = []
    layout = comparison.layout
    landed = LandedContent(comparison.lake)
    receipts = read_units(layout.run(run_id), "idea=*", Receipt, landed, problems)
    if not published:
        return [*problems, _unpublished(layout, run_id)] if runs_are_known else problems
    expected = _promised([table.name for table in IDEA_TABLES], receipts)
    if layout.rejections(run_id).exists():
        rejected = read_file(layout.rejections(run_id), "failures", landed, problems)
        if rejected is None:
            del expected["failures"]
        else:
            expected["failures"] += rejected
    remedy = "run it again to publish it anew"
    return [
        *problems,
        *comparison.differences(
            landed, f"run {run_id}", expected, "run_id = $run_id", remedy, run_id=run_id
        ),
    ]


def _rankings(comparison: _Comparison, run_id: RunId) -> list[str]:
    """Published rankings with other rows than landed."""
    published = comparison.lake.connection.execute(
        "select ranking_id from rankings where run_id = ?", [run_id]
    ).fetchall()
    problems: list[str] = []
    for (ranking_id,) in published:
        landed = LandedContent(comparison.lake)
        receipts = read_units(
            comparison.layout.ranking(run_id, ranking_id), "group=*", GroupReceipt, landed, problems
        )
        expected = _promised(GROUP_TABLES, receipts) if receipts else {}
        condition, ids = (
            "run_id = $run_id and ranking_id = $ranking_id",
            {"run_id": run_id, "ranking_id": ranking_id},
        )
        problems += comparison.differences(
            landed, f"ranking {ranking_id}", expected, condition, "rank again", **ids
        )
    return problems


def _checks(comparison: _Comparison) -> list[str]:
    """Checks of manuscripts that landed whole and are not published, or with other rows than landed."""
    published = comparison.run_ids("select run_id from check_runs")
    problems: list[str] = []
    for folder in sorted(comparison.layout.landing.glob("check=*")):
        run_id = RunId(folder.name.removeprefix("check="))
        landed = LandedContent(comparison.lake)
        receipts = read_units(folder, "part=*", CheckReceipt, landed, problems)
        if run_id not in published:
            if comparison.layout.check_head(run_id).exists():
                problems.append(
                    f"check {run_id} has landed but is not published: run it again to finish it, or remove {folder}"
                )
            continue
        expected = _promised(PART_TABLES, receipts) if receipts else {}
        problems += comparison.differences(
            landed, f"check {run_id}", expected, "run_id = $run_id", "check again", run_id=run_id
        )
    return problems


def _benchmarks(comparison: _Comparison) -> list[str]:
    """Benchmarks that landed and are not published, or with other rows than landed."""
    published = comparison.run_ids("select run_id from benchmarks")
    problems: list[str] = []
    for folder in sorted(comparison.layout.landing.glob("benchmark=*")):
        landed = LandedContent(comparison.lake)
        for receipt in read_units(
            comparison.layout.landing, folder.name, BenchmarkReceipt, landed, problems
        ):
            run_id = receipt.run_id
            if run_id not in published:
                problems.append(
                    f"{run_id} has landed but is not published: run it again to finish it, or remove {folder}"
                )
                continue
            expected, remedy = (
                _promised(LANDED_TABLES, [receipt]),
                "remove its folder, run it again",
            )
            problems += comparison.differences(
                landed, run_id, expected, "run_id = $run_id", remedy, run_id=run_id
            )
    return problems


def _promised(names: Iterable[str], receipts: Sequence[Counted]) -> dict[str, int]:
    """Rows by table as receipts say."""
    return {name: sum(receipt.rows.get(name, 0) for receipt in receipts) for name in names}


def _unpublished(layout: Layout, run_id: RunId) -> str:
    if layout.validation(run_id).exists():
        return f"run {run_id} has landed but is not published: see {layout.validation(run_id)}"
    return f"run {run_id} has landed but is not published: run it again to finish it, or remove {layout.run(run_id)}"
