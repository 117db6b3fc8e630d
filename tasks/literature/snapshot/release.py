"""A Semantic Scholar dataset release as papers (reference §3): folders of packed JSON lines, one
per dataset, joined on disk.

Papers, abstracts, summaries, identifiers and citations are spread over buckets by corpus
identifier, then joined bucket by bucket: memory holds one bucket, whatever the size of the release.
Parts and buckets that are done stay done.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from tasks.literature.snapshot.parts import (
    Place,
    Progress,
    Row,
    first_line,
    identity_of,
    parquet_batches,
    parts_in,
)

DATASETS = ("papers", "abstracts", "tldrs", "paper-ids", "citations")
"""What is used of a release; `papers` must be there."""

# DuckDB goes on on disk beyond it, so that a laptop can join a whole release.
MEMORY_LIMIT = "1GB"
_PACKED_BYTES_PER_BUCKET = 30_000_000
# Every part of the release writes a file for each bucket.
_MOST_BUCKETS = 2_048
_RELEASE_NAME = bounded(r"\d{4}-\d{2}-\d{2}")
_NO_ROWS = {
    "abstracts": "(select null::bigint as corpusid, null as abstract, null as open_url limit 0)",
    "tldrs": "(select null::bigint as corpusid, null as text limit 0)",
    "paper-ids": "(select null::bigint as corpusid, null as sha limit 0)",
    "citations": (
        "(select null::bigint as corpusid, null::bigint as citedcorpusid, null::bigint as"
        " citationid, null::boolean as influential,"
        " null::struct(text varchar, intents varchar[])[] as contexts limit 0)"
    ),
}


@dataclass(frozen=True, slots=True)
class SemanticScholarRelease:
    """Implements `PaperSource`."""

    root: Path
    parts: tuple[tuple[str, tuple[Path, ...]], ...]
    identified: bool = True

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def identity(self) -> str:
        return identity_of([part for _, parts in self.parts for part in parts], self.root)

    @property
    def has_references(self) -> bool:
        return any(name == "citations" for name, _ in self.parts)

    @property
    def through(self) -> str | None:
        """The release's date, where its folder is named by it."""
        return (
            self.root.resolve().name if _RELEASE_NAME.fullmatch(self.root.resolve().name) else None
        )

    def prepare(self, workplace: Path, report: Progress) -> int:
        """Spread every part over buckets, then join every bucket. Returns the number of papers.

        Raises:
            SnapshotError: a part cannot be unpacked or read.
        """
        buckets = self._bucket_count()
        connection = bounded_connection(workplace)
        try:
            self._spread(connection, workplace, buckets, report)
            self._join(connection, workplace, buckets, report)
        except (duckdb.Error, OSError) as error:
            raise SnapshotError(f"{self.root} cannot be joined: {first_line(error)}") from error
        finally:
            connection.close()
        return sum(pq.read_metadata(path).num_rows for path in _joined(workplace))

    def batches(self, workplace: Path, start: Place) -> Iterator[tuple[list[Row], Place]]:
        """Joined papers. Raises SnapshotError when a joined bucket cannot be read."""
        return parquet_batches(_joined(workplace), start)

    def _bucket_count(self) -> int:
        size = sum(part.stat().st_size for _, parts in self.parts for part in parts)
        return min(size // _PACKED_BYTES_PER_BUCKET + 1, _MOST_BUCKETS)

    def _spread(
        self, connection: duckdb.DuckDBPyConnection, workplace: Path, buckets: int, report: Progress
    ) -> None:
        listed = [(name, part) for name, parts in self.parts for part in parts]
        for number, (name, part) in enumerate(listed):
            report(number, len(listed), "parts")
            target = workplace / name / f"part-{number:05d}"
            if target.exists():
                continue
            query = _sql(name).format(source=quoted(part), buckets=buckets)
            temporary = target.with_suffix(".unfinished")
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.parent.mkdir(parents=True, exist_ok=True)
            connection.execute(
                f"copy ({query}) to {quoted(temporary)} (format parquet, compression zstd,"
                " partition_by (bucket))"
            )
            temporary.mkdir(exist_ok=True)
            temporary.rename(target)
        report(len(listed), len(listed), "parts")

    def _join(
        self, connection: duckdb.DuckDBPyConnection, workplace: Path, buckets: int, report: Progress
    ) -> None:
        (workplace / "joined").mkdir(parents=True, exist_ok=True)
        for bucket in range(buckets):
            report(bucket, buckets, "join")
            target = workplace / "joined" / f"{bucket:05d}.parquet"
            files = {
                name: sorted((workplace / name).glob(f"part-*/bucket={bucket}/*.parquet"))
                for name in DATASETS
            }
            if target.exists() or not files["papers"]:
                continue
            tables = {name.replace("-", "_"): _table(name, each) for name, each in files.items()}
            query = _sql("join").format(**tables, has_citations=self.has_references)
            temporary = target.with_suffix(".unfinished")
            connection.execute(
                f"copy ({query}) to {quoted(temporary)} (format parquet, compression zstd,"
                " row_group_size 20000)"
            )
            temporary.rename(target)
        report(buckets, buckets, "join")


def is_release(folder: Path) -> bool:
    """Whether a folder has the datasets of a release as subfolders."""
    return (folder / "papers").is_dir() and bool(parts_in(folder / "papers"))


def open_release(folder: Path) -> SemanticScholarRelease:
    """The datasets that are there, each in a folder of its name: `papers`, `abstracts`, `tldrs`,
    `paper-ids`, `citations`.

    Raises:
        SnapshotError: one of them, or a file in it, is a link.
    """
    linked = next((each for name in DATASETS if (each := folder / name).is_symlink()), None)
    if linked is not None:
        raise SnapshotError(f"{linked} is a link: put the folder itself there")
    found = ((name, parts_in(folder / name)) for name in DATASETS if (folder / name).is_dir())
    return SemanticScholarRelease(folder, tuple((name, parts) for name, parts in found if parts))


def bounded_connection(workplace: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with a limited memory, which spills below `workplace`."""
    workplace.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    connection.execute(f"set temp_directory = {quoted(workplace / 'spilled')}")
    connection.execute("set preserve_insertion_order = false")
    connection.execute("set autoinstall_known_extensions = false")
    return connection


def _joined(workplace: Path) -> tuple[Path, ...]:
    return tuple(sorted((workplace / "joined").glob("*.parquet")))


def _table(name: str, files: list[Path]) -> str:
    if not files:
        return _NO_ROWS[name]
    return f"read_parquet([{', '.join(map(quoted, files))}], hive_partitioning = false)"


def _sql(name: str) -> str:
    return resources.files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")


def quoted(path: Path) -> str:
    """A path as a literal of SQL, where no parameter is taken."""
    return "'" + str(path).replace("'", "''") + "'"
