"""Export, compaction, verification and the data dictionary."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.settings import LanguageModelSettings, Settings
from schemas.tables import TABLES
from tests.support.benchmark_lake import BENCHMARK, SUITE, publish_benchmark_lake
from tests.support.evaluations import make_evaluation
from warehouse.compact import compact
from warehouse.dictionary import data_dictionary
from warehouse.export import export_lake
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.statements import MARTS, names
from warehouse.stores.transcripts import Transcripts, open_transcripts, transcripts_path
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse


@pytest.fixture
def copied(published: Warehouse, tmp_path: Path) -> Warehouse:
    """The published warehouse in another folder, to be changed at will."""
    shutil.copytree(published.root, tmp_path / "moved")
    return Warehouse(tmp_path / "moved")


@pytest.fixture(scope="module")
def exported(
    published: Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, int]]:
    """An export in place of an older one, and its rows. Not to be changed."""
    target = tmp_path_factory.mktemp("export") / "out" / "assay.duckdb"
    target.parent.mkdir()
    target.write_text("old")
    return target, export_lake(published, target)


def test_an_export_holds_every_table_and_mart(exported: tuple[Path, dict[str, int]]) -> None:
    target, rows = exported
    with duckdb.connect(str(target), read_only=True) as connection:
        for table in TABLES:
            assert connection.execute(f"select count(*) from {table.name}").fetchall() == [
                (rows[table.name],)
            ]
        for name in MARTS:
            filled = name not in (
                "attempt_hits",
                "judge_agreement",
            )  # no manuscript was checked, and one model judged
            assert connection.execute(f"select count(*) > 0 from {name}").fetchall() == [(filled,)]
    assert [path.name for path in target.parent.iterdir()] == ["assay.duckdb"]


def test_an_export_says_what_every_table_mart_and_column_means(
    exported: tuple[Path, dict[str, int]],
) -> None:
    with duckdb.connect(str(exported[0]), read_only=True) as connection:
        columns = connection.execute(
            "select table_name, column_name, comment from duckdb_columns() where not internal"
        ).fetchall()
        marts = connection.execute(
            "select view_name, comment from duckdb_views() where not internal"
        ).fetchall()
    told = {(table, column): comment for table, column, comment in columns}
    for table in TABLES:
        for column in table.columns:
            assert told[table.name, column.name] == column.meaning
    assert {name for name, comment in marts if comment} == set(MARTS)


def test_a_failed_export_leaves_the_older_one(tmp_path: Path) -> None:
    target = tmp_path / "assay.duckdb"
    target.write_text("old")
    with pytest.raises(ConfigurationError, match="publish a run first"):
        export_lake(Warehouse(tmp_path / "nothing"), target)
    assert target.read_text() == "old"


def test_an_export_onto_a_folder_is_refused(published: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is a folder"):
        export_lake(published, tmp_path)


@pytest.mark.long
def test_a_moved_warehouse_is_sound(copied: Warehouse) -> None:
    report = verify(copied)
    assert report.problems == ()
    assert report.sound
    assert report.runs == 1
    assert report.rows["ideas"] == 5
    assert report.rows["idea_scores"] == 5


def test_compaction_changes_nothing_a_reader_sees(copied: Warehouse) -> None:
    run_id = RunId("run-a")
    with copied.queries() as queries:
        before = (queries.ranking(run_id), list(queries.idea_reviews(run_id)))
    report = compact(copied, keep=timedelta(0))
    assert report.files_after <= report.files_before
    assert report.snapshots_expired > 0
    with copied.queries() as queries:
        assert (queries.ranking(run_id), list(queries.idea_reviews(run_id))) == before


def test_compaction_removes_only_old_leftovers_of_killed_workers(copied: Warehouse) -> None:
    """Of ideas within their runs, and of whole benchmarks."""
    places = (RUNS.folder(copied, RunId("run-a")), copied.landing)
    old, young = ([place / f".building-{age}" for place in places] for age in ("old", "young"))
    for folder in (*old, *young):
        folder.mkdir()
    for folder in old:
        os.utime(folder, (time.time() - 2 * 86400,) * 2)
    assert set(verify(copied).notices) == {
        f"{place} holds 2 unfinished folders of killed workers: `assay warehouse compact` removes"
        " them"
        for place in places
    }
    assert compact(copied).leftovers_removed == 2
    assert not any(folder.exists() for folder in old)
    assert all(folder.exists() for folder in young)


def test_compaction_deletes_the_transcripts_that_are_kept_no_longer(copied: Warehouse) -> None:
    transcripts = open_transcripts(copied, 90)
    assert transcripts is not None
    asked = [{"role": "user", "content": "Is it new?"}]
    old, new = transcripts.keep(asked, "old"), transcripts.keep(asked, "new")
    transcripts.close()
    with closing(sqlite3.connect(transcripts_path(copied))) as connection, connection:
        connection.execute(
            "update entries set stored_at = stored_at - 91 * 86400 where key = ?", (old,)
        )
    assert compact(copied).transcripts_deleted == 1
    left = Transcripts(transcripts_path(copied))
    assert (left.read(old), left.read(new) is None) == (None, False)
    left.close()
    none = Settings(language_model=LanguageModelSettings(keep_transcripts_days=0))
    assert compact(Warehouse(copied.root, none)).transcripts_deleted == 1


def test_compaction_without_a_lake_makes_none(warehouse: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match="publish a run first"):
        compact(warehouse)
    assert not warehouse.catalogue.exists()


def test_a_landing_nobody_published_and_rows_that_are_not_those_that_landed_are_found(
    copied: Warehouse,
) -> None:
    """As many rows as before, which say something else."""
    land(copied, make_evaluation(run_id="run-z"))
    with copied.publisher() as connection:
        connection.execute(
            "update candidates set paper_id = 'forged' where rowid = (select min(rowid) from"
            " candidates)"
        )
    forged, unpublished = sorted(verify(copied).problems)
    assert forged.startswith(
        "run run-a: the rows of candidates that are published are not those that landed; bring "
    )
    assert unpublished == (
        "run run-z has landed but is not published: run it again to finish it, or remove"
        f" {RUNS.folder(copied, RunId('run-z'))}"
    )


def test_everything_damaged_in_landing_is_listed_each_with_its_file(copied: Warehouse) -> None:
    """Truncated files, junk, a cut receipt, a lost file and a lost row, of units of every kind; and
    two ideas that landed later.
    """
    publish_benchmark_lake(copied)
    run = RUNS.folder(copied, RunId("run-a"))
    first, second, third, fourth, fifth = sorted(run.glob("idea=*"))[:5]
    cut(first / "methods.parquet")
    (second / "papers.parquet").write_bytes(b"PAR1 this is junk PAR1")
    cut(third / "receipt.json")
    (fourth / "ideas.parquet").unlink()
    papers = pq.read_table(fifth / "papers.parquet")
    pq.write_table(papers.slice(1), fifth / "papers.parquet")
    (RUNS.folder(copied, RunId("run-a")) / "failures.parquet").write_bytes(b"junk")
    cut(BENCHMARKS.unit_folder(copied, BENCHMARK, SUITE) / "benchmark_items.parquet")
    for number in (77, 78):
        land(copied, make_evaluation(number))
    problems = verify(copied).problems
    for path in (
        first / "methods.parquet",
        second / "papers.parquet",
        third / "receipt.json",
        fourth / "ideas.parquet",
        fifth / "papers.parquet",
        RUNS.folder(copied, RunId("run-a")) / "failures.parquet",
        BENCHMARKS.unit_folder(copied, BENCHMARK, SUITE) / "benchmark_items.parquet",
    ):
        (told,) = [problem for problem in problems if str(path) in problem]
        assert "\n" not in told
        assert "remove" in told
    promised = f"papers.parquet holds {len(papers) - 1} rows, its receipt says {len(papers)}"
    assert any(f"{fifth / promised}" in problem for problem in problems)
    assert (
        "run run-a: 5 rows of ideas are published, its receipts say 6; the command of the run"
        " publishes it again"
    ) in problems


@pytest.mark.long
def test_a_landed_footer_whose_columns_point_elsewhere_is_found(copied: Warehouse) -> None:
    """Every page is as it was written, and every row count is right; only the titles are where the
    abstracts should be.
    """
    one = next(RUNS.folder(copied, RunId("run-a")).glob("idea=*/papers.parquet"))
    rows = pq.read_table(one)
    names = [
        "abstract" if name == "title" else "title" if name == "abstract" else name
        for name in rows.column_names
    ]
    pq.write_table(
        rows.rename_columns(names).select(rows.column_names),
        one,
        compression="zstd",
        store_schema=False,
    )
    (problem,) = verify(copied).problems
    assert problem.startswith(
        "run run-a: the rows of papers that are published are not those that landed"
    )


@pytest.mark.parametrize(
    "part", [2, pytest.param(1, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
@pytest.mark.long
def test_a_missing_file_and_pages_overwritten_are_found_whether_or_not_they_read(
    copied: Warehouse, part: int
) -> None:
    one, lost = (
        next((copied.data / "main" / name).glob("*.parquet")) for name in ("papers", "methods")
    )
    lost.unlink()
    damaged = bytearray(one.read_bytes())
    place = len(damaged) * part // 5
    damaged[place : place + 40] = bytes(byte ^ 0x55 for byte in damaged[place : place + 40])
    one.write_bytes(damaged)
    problems = verify(copied).problems
    assert any("papers" in problem for problem in problems)
    assert any(lost.name in problem and "is missing" in problem for problem in problems)
    assert any("methods cannot be read" in problem for problem in problems)
    assert not [problem for problem in problems if "\n" in problem]


def cut(path: Path) -> None:
    """Leave the first half of a file, as a full disk does."""
    os.truncate(path, path.stat().st_size // 2)


def test_the_dictionary_names_every_table_column_mart_and_check() -> None:
    text = data_dictionary()
    for table in TABLES:
        assert f"### `{table.name}`" in text
        for column in table.columns:
            assert f"| `{column.name}` | {column.sql_type} |" in text
    for name in (*MARTS, *names("run_checks")):
        assert f"`{name}`" in text
    assert "-1 to 1" in text
    assert "refers to `papers.paper_id`" in text
