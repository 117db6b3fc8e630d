"""A lake of many ideas of realistic size: some dozens are landed and published as a run's are, then
copied inside the lake.
"""

import time
from pathlib import Path

import duckdb

from schemas.columns import Table
from schemas.identifiers import RunId
from schemas.tables import IDEA_TABLES
from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import transaction
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

MODELS = 40
"""Ideas that are really made; the others are their copies, with names, keys and texts of their own.
"""

COPIES_AT_ONCE = 25
_TOLD_APART = ("idea_id", "evaluation_key", "call_id")
_RUN = RunId("run-a")


def lake_of(root: Path, ideas: int) -> Warehouse:
    """Publish one run of `ideas` ideas (a multiple of 40): per idea some 60 papers, 125
    comparisons, 60 calls.
    """
    warehouse = Warehouse(root)
    for number in range(MODELS):
        land(
            warehouse,
            make_evaluation(number, papers=60, methods=6, dimensions=5, compared=25, calls=60),
        )
    report = publish(warehouse, RUNS, make_run(ideas=MODELS))
    assert report.published, report.validation
    with warehouse.publisher() as connection:
        for first in range(1, ideas // MODELS, COPIES_AT_ONCE):
            last = min(first + COPIES_AT_ONCE, ideas // MODELS)
            with transaction(connection, _RUN):
                for table in IDEA_TABLES:
                    copy_ideas(connection, table, first, last)
        with transaction(connection, _RUN):
            connection.execute(
                "update runs set idea_count = $ideas, evaluated_count = $ideas", {"ideas": ideas}
            )
    return warehouse


def copy_ideas(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    first: int,
    last: int,
    *,
    run_id: RunId = _RUN,
) -> None:
    """Insert copies `first` to `last` of a run's ideas; what tells rows apart gets the copy's number, long
    texts get words of their own.

    An idea's rows lie together, as they do where ideas land one by one.
    """
    names = table.column_names
    changed = [
        f"case when {name} is null then null else {name} || '-c' || copy end as {name}"
        for name in _TOLD_APART
        if name in names
    ]
    texts = [
        name for name in ("text", "abstract", "support", "comparison", "title") if name in names
    ]
    changed += [f"{name} || ' ' || md5(copy || idea_id) as {name}" for name in texts]
    of_models = (
        f"run_id = '{run_id}' and idea_id is not null and not regexp_matches(idea_id, '-c\\d+$')"
    )
    connection.execute(
        f"insert into {table.name} select * exclude (copy) replace ({', '.join(changed)}) from"
        f" (select m.*, c.copy::varchar as copy from {table.name} as m cross join range({first},"
        f" {last}) as c(copy) where {of_models}) order by idea_id"
    )


def told(warehouse: Warehouse, started: float) -> str:
    """Rows and bytes of the lake and how long it took."""
    with warehouse.publisher() as connection:
        counts = [
            connection.execute(f"select count(*) from {table.name}").fetchone()
            for table in RUNS.published_tables
        ]
    rows = sum(int(count[0]) for count in counts if count)
    size = sum(path.stat().st_size for path in warehouse.root.rglob("*.parquet"))
    return f"{rows:,} rows, {size / 1e6:,.0f} MB, made in {time.monotonic() - started:.0f} s"
