"""What readers ask about check runs. Only published ones are seen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from schemas.identifiers import RunId
from warehouse.catalogue.connection import Connection
from warehouse.statements import quoted, statement
from warehouse.warehouse import Warehouse


@contextmanager
def release_views(warehouse: Warehouse, run_ids: Sequence[RunId]) -> Iterator[Connection]:
    """The check runs of the lake under the names and columns of a quality checker's release, for
    `quality_checker`.
    """
    with warehouse.reader() as connection:
        chosen = ", ".join(quoted(run_id) for run_id in run_ids) or "null"
        for name in ("checks", "papers", "problems", "votes"):
            sql = statement("check_views", name).replace("$run_ids", chosen)
            connection.execute(f"create or replace temporary view {name} as {sql}")
        yield connection
