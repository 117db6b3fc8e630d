"""Housekeeping of a warehouse: merges files, deletes what nothing reads, trims caches."""

import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.catalogue.connection import Connection
from warehouse.catalogue.definitions import check_catalogue
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS
from warehouse.lake import filled_tables, no_lake_error, one_line
from warehouse.reports import remove_unfinished
from warehouse.statements import quoted
from warehouse.stores.keyed_store import trim_caches
from warehouse.stores.transcripts import forget_expired
from warehouse.units.eviction import evict
from warehouse.units.kind import published_names
from warehouse.units.landing import LEFTOVERS
from warehouse.warehouse import Warehouse

_DAY = timedelta(days=1)
_REWRITE_THRESHOLD = "delete_threshold => 0.1"
"""Share of deleted rows above which a file is rewritten, since queries filter deleted rows."""


class CompactReport(Noun):
    files_before: int = Field(
        ge=0,
        description=(
            "Parquet files of the snapshot, with the few rows kept in the catalogue moved into"
            " files."
        ),
    )
    files_after: int = Field(ge=0)
    snapshots_expired: int = Field(ge=0)
    files_deleted: int = Field(ge=0, description="Files that no kept snapshot reads.")
    leftovers_removed: int = Field(
        ge=0,
        description="Folders that killed workers left behind in landing, and commands in reports.",
    )
    transcripts_deleted: int = Field(
        ge=0, description="Prompts with their replies that were kept longer than the setting."
    )
    landed_units_let_go: int = Field(
        ge=0, description="Ideas whose landed files went: the lake has held their rows for long."
    )
    batch_files_removed: int = Field(
        ge=0, description="Of runs and rankings that need no answer of a batch any more."
    )
    cache_entries_dropped: int = Field(ge=0, description="Too old, or beyond the bound on size.")
    bytes_freed: int = Field(
        description="In the caches, by compression and by what was dropped; in landing; in files of"
        " batches."
    )


def compact(warehouse: Warehouse, *, keep: timedelta = timedelta(days=7)) -> CompactReport:
    """Merge small files, expire snapshots older than `keep`, and evict landed files.

    Readers see the same rows. Files are deleted one day after the last reference to them, or after
    `keep` if that is shorter, so that running queries finish. Landed files of published runs and
    batches of complete ones are deleted too.

    Raises:
        ConfigurationError: there is no lake, this user may not change it, or DuckLake failed.
        TransientError: a publisher holds the lock.
        UpstreamError: PostgreSQL or object storage cannot be reached.
    """
    if not warehouse.may_hold_a_lake():
        raise no_lake_error(warehouse)
    warehouse.check_may_publish()
    now, settings = datetime.now(UTC), warehouse.settings
    expiry, unused_since = _time(now - keep), _time(now - min(keep, _DAY))
    with warehouse.publisher() as connection:
        try:
            files_before = _merge_files(connection)
            expired_count = _call(connection, "expire_snapshots", f"older_than => {expiry}")
            # Another writer may have changed paths since the lake was opened. DuckDB is limited to
            # the lake's files, but accepts object storage addresses with `..` as such.
            check_catalogue(connection)
            deleted_count = sum(
                _call(connection, name, f"older_than => {unused_since}")
                for name in ("cleanup_old_files", "delete_orphaned_files")
            )
            files_after = _file_count(connection)
            evictions = [evict(connection, warehouse, kind, now - keep) for kind in KINDS]
            batches = _remove_batches(connection, warehouse, now - keep)
        except duckdb.Error as error:
            raise ConfigurationError(
                f"the lake could not be compacted: {one_line(error)}"
            ) from error
    caches_trimmed = trim_caches(warehouse, settings.caches)
    transcript_days = settings.language_model.keep_transcripts_days
    return CompactReport(
        transcripts_deleted=forget_expired(warehouse, transcript_days),
        cache_entries_dropped=sum(cache.entries_dropped for cache in caches_trimmed),
        landed_units_let_go=sum(one.units for one in evictions),
        batch_files_removed=len(batches),
        bytes_freed=sum(cache.bytes_before - cache.bytes_after for cache in caches_trimmed)
        + sum(one.bytes for one in evictions)
        + sum(batches),
        files_before=files_before,
        files_after=files_after,
        snapshots_expired=expired_count,
        files_deleted=deleted_count,
        leftovers_removed=_remove_leftovers(warehouse) + remove_unfinished(warehouse),
    )


def _merge_files(connection: Connection) -> int:
    """Merge files, and return their number before, with inlined rows written to files."""
    tables = filled_tables(connection)
    for name in tables:
        _call(connection, "flush_inlined_data", f"table_name => {quoted(name)}")
    count = _file_count(connection)
    for name in tables:
        _call(connection, "rewrite_data_files", f"{quoted(name)}, {_REWRITE_THRESHOLD}")
        _call(connection, "merge_adjacent_files", quoted(name))
    return count


def _call(connection: Connection, name: str, arguments: str) -> int:
    """Call a DuckLake maintenance function, and return its number of rows."""
    return len(connection.execute(f"call ducklake_{name}('lake', {arguments})").fetchall())


def _remove_batches(
    connection: Connection, warehouse: Warehouse, published_before: datetime
) -> list[int]:
    """Delete the batches of complete works, and return their sizes in bytes."""
    sizes = []
    for kind, complete in ((RUNS, "failed_count = 0"), (RANKINGS, "incomplete_reason is null")):
        for run_id, *ranking_id in published_names(
            connection, kind, f"published_at < $before and {complete}", before=published_before
        ):
            size = remove_batches(warehouse, RunId(run_id), *ranking_id)
            sizes += [size] if size else []
    return sizes


def remove_batches(warehouse: Warehouse, run_id: RunId, ranking_id: str | None = None) -> int:
    """Delete the batch files of a run or ranking, and return their size in bytes."""
    path = warehouse.batches(run_id, ranking_id)
    size = 0
    for file in path.parent.glob(f"{path.name}*"):
        size += file.stat().st_size
        file.unlink()
    shutil.rmtree(warehouse.waiting(run_id, ranking_id), ignore_errors=True)
    return size


def _time(moment: datetime) -> str:
    return f"{quoted(moment.isoformat())}::timestamptz"


def _file_count(connection: Connection) -> int:
    return int(
        connection.execute(
            "select coalesce(sum(file_count), 0) from ducklake_table_info('lake')"
        ).fetchall()[0][0]
    )


def _remove_leftovers(warehouse: Warehouse) -> int:
    """Delete folders of killed workers older than a day: a worker may still write younger ones."""
    yesterday = time.time() - _DAY.total_seconds()
    count = 0
    for folder in warehouse.building_places():
        for entry in os.scandir(folder):
            if entry.name.startswith(LEFTOVERS) and entry.stat().st_mtime < yesterday:
                (
                    shutil.rmtree(entry.path, ignore_errors=True)
                    if entry.is_dir()
                    else Path(entry.path).unlink(missing_ok=True)
                )
                count += 1
    return count
