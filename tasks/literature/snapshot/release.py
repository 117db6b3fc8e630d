"""Semantic Scholar dataset releases and diffs as papers (reference §3).

A release has one folder of compressed JSON lines per dataset. Rows are partitioned into buckets by
corpus id and joined bucket by bucket, so that memory holds one bucket at a time. Finished parts and
buckets are not repeated.
"""

import shutil
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from schemas.errors import SnapshotError
from schemas.text.patterns import bounded
from tasks.literature.snapshot.contexts import contexts_of_record
from tasks.literature.snapshot.editor import (
    Amendment,
    AnyChange,
    Changes,
    Edge,
    EdgeRemoval,
    Removal,
    Upsert,
)
from tasks.literature.snapshot.folder import Manifest
from tasks.literature.snapshot.parts import (
    PaperSource,
    Place,
    Progress,
    Row,
    batches_of,
    first_line,
    identity_of,
    parts_in,
)
from tasks.web.decoding import inside

DATASETS = ("papers", "abstracts", "tldrs", "paper-ids", "citations")
"""Datasets read from a release; `papers` is required."""

# DuckDB spills to disk beyond it, so that a laptop can join a whole release.
MEMORY_LIMIT = "1GB"
_PACKED_BYTES_PER_BUCKET = 30_000_000
# Every part of the release writes a file for each bucket.
_MOST_BUCKETS = 2_048
_RELEASE_NAME = bounded(r"\d{4}-\d{2}-\d{2}")
_STEP = bounded(r"(\d{4}-\d{2}-\d{2})-to-(\d{4}-\d{2}-\d{2})")
_SHA = bounded(r"[0-9a-f]{40}")
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


Datasets = Sequence[tuple[str, tuple[Path, ...]]]
"""The files of each dataset of a release, by name."""


def is_release(folder: Path) -> bool:
    """Return whether a folder has the datasets of a release as subfolders."""
    return (folder / "papers").is_dir() and bool(parts_in(folder / "papers"))


def open_release(folder: Path) -> PaperSource:
    """Open a release: one folder for each dataset of `DATASETS` that it has.

    Raises:
        SnapshotError: a file in one of them is a link.
    """
    parts_by_name = (
        (name, parts_in(folder / name)) for name in DATASETS if (folder / name).is_dir()
    )
    datasets = tuple((name, parts) for name, parts in parts_by_name if parts)
    has_citations = any(name == "citations" for name, _ in datasets)
    folder_name = folder.resolve().name

    def prepare(workplace: Path, report: Progress) -> int:
        buckets = bucket_count(datasets)
        try:
            with bounded_connection(workplace) as connection:
                _spread(connection, datasets, workplace, buckets, report)
                _join(connection, workplace, buckets, report, has_citations=has_citations)
        except (duckdb.Error, OSError) as error:
            raise SnapshotError(f"{folder} cannot be joined: {first_line(error)}") from error
        return sum(pq.read_metadata(path).num_rows for path in _joined_files(workplace))

    return PaperSource(
        name=folder.name,
        identity=identity_of([part for _, parts in datasets for part in parts], folder),
        has_references=has_citations,
        through=folder_name if _RELEASE_NAME.fullmatch(folder_name) else None,
        prepare=prepare,
        batches=lambda workplace, start: batches_of(_joined_files(workplace), start),
    )


def bucket_count(datasets: Datasets) -> int:
    size = sum(part.stat().st_size for _, parts in datasets for part in parts)
    return min(size // _PACKED_BYTES_PER_BUCKET + 1, _MOST_BUCKETS)


def _spread(
    connection: duckdb.DuckDBPyConnection,
    datasets: Datasets,
    workplace: Path,
    buckets: int,
    report: Progress,
) -> None:
    parts_of_datasets = [(name, part) for name, parts in datasets for part in parts]
    for number, (name, part) in enumerate(parts_of_datasets):
        report(number, len(parts_of_datasets), "parts")
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
    report(len(parts_of_datasets), len(parts_of_datasets), "parts")


def _join(
    connection: duckdb.DuckDBPyConnection,
    workplace: Path,
    buckets: int,
    report: Progress,
    *,
    has_citations: bool,
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
        tables = {
            name.replace("-", "_"): f"read_parquet([{', '.join(map(quoted, each))}],"
            " hive_partitioning = false)"
            if each
            else _NO_ROWS[name]
            for name, each in files.items()
        }
        query = _sql("join").format(**tables, has_citations=has_citations)
        temporary = target.with_suffix(".unfinished")
        connection.execute(
            f"copy ({query}) to {quoted(temporary)} (format parquet, compression zstd,"
            " row_group_size 20000)"
        )
        temporary.rename(target)
    report(buckets, buckets, "join")


def _joined_files(workplace: Path) -> tuple[Path, ...]:
    return tuple(sorted((workplace / "joined").glob("*.parquet")))


def open_diffs(path: Path, manifest: Manifest) -> Changes:
    """Open the diffs between releases that a snapshot does not have yet.

    The layout is `updates/<date>-to-<date>/papers/…` and `deletes/…`. The updates of each dataset
    come before its deletions.

    Raises:
        SnapshotError: there are none, or a step is missing before the first of them.
    """
    kinds = [path / kind for kind in ("updates", "deletes")]
    names = {each.name for kind in kinds if kind.is_dir() for each in kind.iterdir()}
    steps = sorted(name for name in names if _STEP.fullmatch(name))
    if not steps:
        raise SnapshotError(
            f"{path} holds no diffs; expected updates/<date>-to-<date>/papers/… as in their"
            " addresses"
        )
    later_steps = [
        step for step in steps if manifest.through is None or step[-10:] > manifest.through
    ]
    reached_day = manifest.through
    for step in later_steps:
        if reached_day is not None and step[:10] > reached_day:
            raise SnapshotError(
                f"{path} lacks the diffs from {reached_day} to {step[:10]}; fetch them and try again"
            )
        reached_day = step[-10:]
    parts = [
        (name, kind.name == "deletes", part)
        for step in later_steps
        for name in ("papers", "abstracts", "tldrs", "citations")
        if name != "citations" or manifest.has_references
        for kind in kinds
        for part in parts_in(kind / step / name)
    ]
    files = [part for _, _, part in parts]

    def batches(start: Place) -> Iterator[tuple[Sequence[AnyChange], Place]]:
        number = start.part
        for rows, place in batches_of(files, start):
            dataset, is_removal, _ = parts[number]
            changes = (
                each for row in rows for each in _changes(row, dataset, is_removal=is_removal)
            )
            yield list(changes), place
            number = place.part

    return Changes(
        name=path.name,
        identity=identity_of(files, path),
        through=reached_day,
        batches=batches,
        empty=not parts,
    )


def _changes(row: Row, dataset: str, *, is_removal: bool) -> Iterator[AnyChange]:
    corpus_id, edge_id = row.get("corpusid"), row.get("citationid")
    key = f"corpus:{corpus_id}"
    if dataset == "citations":
        citing_id, cited_id = row.get("citingcorpusid"), row.get("citedcorpusid")
        if is_removal and isinstance(edge_id, int):
            yield EdgeRemoval(edge_id)
        elif isinstance(edge_id, int) and isinstance(citing_id, int) and isinstance(cited_id, int):
            contexts = contexts_of_record(row)
            yield Edge(edge_id, f"corpus:{citing_id}", f"CorpusId:{cited_id}", contexts)
    elif not isinstance(corpus_id, int):
        return
    elif dataset == "papers":
        cites_nothing = row.get("referencecount") == 0
        yield Removal(key) if is_removal else Upsert(_row_of_paper(row, corpus_id), cites_nothing)
    elif dataset == "abstracts":
        text, url = _text(row.get("abstract")), _text(inside(row, "openaccessinfo", "url"))
        fields = {"abstract": text, "pdf_url": url}
        yield Amendment(key, dict.fromkeys(fields) if is_removal else fields)
    else:
        yield Amendment(key, {"tldr": None if is_removal else _text(row.get("text"))})


def _row_of_paper(row: Row, corpus_id: int) -> Row:
    sha = _SHA.search(str(row.get("url") or ""))
    return {
        "paper_id": sha.group() if sha else f"corpusid:{corpus_id}",
        "corpus_id": corpus_id,
        "title": row.get("title"),
        "authors": row.get("authors"),
        "venue": row.get("venue"),
        "venue_id": row.get("publicationvenueid"),
        "fields_of_study": row.get("s2fieldsofstudy"),
        "year": row.get("year"),
        "url": row.get("url"),
        "doi": inside(row, "externalids", "DOI"),
        "arxiv_id": inside(row, "externalids", "ArXiv"),
        "citation_count": row.get("citationcount"),
        "publication_date": row.get("publicationdate"),
    }


def _text(value: object) -> str | None:
    return " ".join(value.split()) or None if isinstance(value, str) else None


def bounded_connection(
    workplace: Path, database: Path | None = None, memory_limit: str = MEMORY_LIMIT
) -> duckdb.DuckDBPyConnection:
    """Open DuckDB with a memory limit; it spills to disk below `workplace`.

    Args:
        database: a file that only Assay writes; None: in memory.
    """
    workplace.mkdir(parents=True, exist_ok=True)
    return duckdb.connect(
        database or ":memory:",
        config={
            "memory_limit": memory_limit,
            "temp_directory": str(workplace / "spilled"),
            "preserve_insertion_order": False,
            # The content of a file must not make DuckDB install or load an extension.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )


def _sql(name: str) -> str:
    return resources.files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")


def quoted(path: Path) -> str:
    """Return a path as an SQL literal, for statements that take no parameter."""
    return "'" + str(path).replace("'", "''") + "'"
