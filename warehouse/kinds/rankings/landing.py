"""Declaration of rankings, and the evaluations that they depend on.

landing/run=<run>/ranking=<id>/group=<name>/<table>.parquet, receipt.json
landing/run=<run>/ranking=<id>/ranking.json
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemas.errors import PublicationError
from schemas.identifiers import RunId, content_hash
from schemas.judgement.ranking import GroupReceipt, GroupSummary, Match, RankedGroup, RankingHead
from schemas.people.ledger import Artefact
from schemas.tables import RANKING_TABLES, TABLE
from warehouse.layout import Layout
from warehouse.statements import statement, table_statement
from warehouse.units import landing
from warehouse.units.kind import Kind
from warehouse.units.unit_rows import landed_unit

if TYPE_CHECKING:  # workers need no database
    from warehouse.catalogue.connection import Connection


def basis_of(connection: "Connection", run_id: RunId) -> str:
    """Return a hash of the run's published evaluations and their times.

    A re-evaluation of an idea changes it.
    """
    sql = statement("tables", "evaluations_of_run")
    rows = connection.execute(sql, {"run_id": run_id}).fetchall()
    return content_hash(*(" ".join(str(value) for value in row) for row in rows))


def drop_stale_rankings(connection: "Connection", run_id: RunId) -> None:
    """Delete rankings of replaced evaluations; their calls stay for the costs."""
    basis = {"run_id": run_id, "basis_sha256": basis_of(connection, run_id)}
    sql = statement("tables", "delete_stale_rankings")
    if connection.execute(sql, basis).fetchall() == [(0,)]:
        return
    for table in (*RANKING_TABLES, TABLE["validations"]):
        if table.name != "rankings":
            sql = table_statement("delete_without_ranking", table=table.name)
            connection.execute(sql, {"run_id": run_id})


def _refuse_if_stale(connection: "Connection", head: RankingHead) -> None:
    if basis_of(connection, head.run_id) != head.basis_sha256:
        raise PublicationError(
            f"run {head.run_id} was evaluated again while it was ranked: "
            "rank it again (nothing is paid twice)"
        )


RATINGS = ("ratings", "ratings_across_groups")

RANKINGS = Kind(
    folders={"run": "run_id", "ranking": "ranking_id"},
    unit=("group", "group"),
    noun=RankedGroup,
    head=RankingHead,
    receipt=GroupReceipt,
    tables=("ranking_groups", "matches", *RATINGS, "llm_calls"),
    artefact=Artefact.RANKING,
    settle=_refuse_if_stale,
)


def iterate_heads(layout: Layout, run_id: RunId) -> Iterator[RankingHead]:
    """Yield the head of every finished ranking of a run."""
    for names in landing.landed_names(layout, RANKINGS, run_id):
        head = landing.read_head(layout, RANKINGS, *names)
        if head is not None:
            yield head


def landed_matches(layout: Layout, run_id: RunId, ranking_id: str, group: str) -> tuple[Match, ...]:
    """Return the matches of a landed group; none if it has not landed."""
    group_unit = landed_unit(layout, RANKINGS, run_id, ranking_id, group)
    return group_unit.matches if group_unit is not None else ()


def failed_groups(layout: Layout, run_id: RunId, ranking_id: str) -> Iterator[GroupSummary]:
    """Yield the summaries of groups that landed with a reason instead of ratings."""
    for receipt in landing.iterate_receipts(layout, RANKINGS, run_id, ranking_id):
        if not receipt.complete and not any(receipt.rows.get(name) for name in RATINGS):
            group_unit = landed_unit(layout, RANKINGS, run_id, ranking_id, receipt.unit)
            if group_unit is not None:
                yield group_unit.summary
