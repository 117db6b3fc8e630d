"""Publication of a ranking: validated, then put into the lake in one transaction, beside the others of its run."""

from collections.abc import Sequence

import duckdb

from schemas.errors import PublicationError
from schemas.identifiers import content_hash
from schemas.ranking import GroupReceipt, RankingHead
from schemas.tables import RANKING_TABLES, TABLE
from warehouse.answers import Publication, ValidationReport
from warehouse.layout import Layout
from warehouse.rankings.basis import basis_of
from warehouse.rankings.landed import read_groups
from warehouse.rankings.landing import GROUP_TABLES, iterate_group_receipts
from warehouse.statements import table_statement
from warehouse.unit_publish import (
    Unit,
    counted_rows,
    head_rows,
    insert,
    publish_unit,
    validation_rows,
)

_GROUPS_AT_ONCE = 50


def publish_ranking(
    layout: Layout,
    head: RankingHead,
    *,
    catalogue_url: str | None = None,
    wait_seconds: float = 60.0,
) -> Publication:
    """Validate what a ranking landed and put it into the lake, whole or not at all.

    Publishing again replaces its rows, never those of another ranking of the run; publishing what is there changes nothing.

    Raises:
        PublicationError: the run is not published, or was evaluated again since; or files do not hold what receipts say.
        TransientError: another publisher is still at work.
    """
    receipts = tuple(iterate_group_receipts(layout, head.run_id, head.ranking_id))
    digest = content_hash(
        head.model_dump_json(exclude={"started_at", "finished_at"}),
        *(receipt.model_dump_json() for receipt in receipts),
    )
    ids = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    unit = Unit(
        run_id=head.run_id,
        digest=digest,
        published_digest=lambda connection: _published_digest(connection, head, ids),
        validate=lambda: _validate(layout, head, receipts),
        replace=lambda connection, validation: _replace_ranking(
            connection, layout, head, receipts, digest, validation
        ),
    )
    return publish_unit(layout, unit, catalogue_url=catalogue_url, wait_seconds=wait_seconds)


def _published_digest(
    connection: duckdb.DuckDBPyConnection, head: RankingHead, ids: dict[str, str]
) -> str | None:
    if basis_of(connection, head.run_id) != head.basis_sha256:
        raise PublicationError(
            f"run {head.run_id} was evaluated again while it was ranked: rank it again (nothing is paid twice)"
        )
    row = connection.execute(
        "select landing_sha256 from rankings where run_id = $run_id and ranking_id = $ranking_id",
        ids,
    ).fetchone()
    return row[0] if row else None


def _validate(
    layout: Layout, head: RankingHead, receipts: Sequence[GroupReceipt]
) -> ValidationReport:
    from warehouse.rankings.validate import validate_ranking

    return validate_ranking(layout, head.run_id, head.ranking_id, receipts)


def _replace_ranking(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    head: RankingHead,
    receipts: Sequence[GroupReceipt],
    digest: str,
    validation: ValidationReport,
) -> dict[str, int]:
    ids = {"run_id": head.run_id, "ranking_id": head.ranking_id}
    for table in (*RANKING_TABLES, TABLE["llm_calls"], TABLE["validations"]):
        connection.execute(table_statement("delete_ranking", table=table.name), ids)
    for name in GROUP_TABLES:
        for start in range(0, len(receipts), _GROUPS_AT_ONCE):
            rows = read_groups(layout, name, receipts[start : start + _GROUPS_AT_ONCE])
            insert(connection, TABLE[name], rows)
    insert(connection, TABLE["rankings"], head_rows(TABLE["rankings"], head, digest))
    insert(connection, TABLE["validations"], validation_rows(validation))
    return counted_rows(
        connection, f"ranking {head.ranking_id}", GROUP_TABLES, "count_ranking", ids, receipts
    )
