"""Landing of rankings: one folder per ranked group, whole or absent; the ranking exists once its head has landed.

landing/run=<run>/ranking=<id>/group=<hash>/{matches,ratings,ranking_groups,llm_calls}.parquet, receipt.json
landing/run=<run>/ranking=<id>/ranking.json
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.ranking import GroupReceipt, GroupSummary, Match, RankedGroup, RankingHead
from schemas.tables import TABLE
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.rankings.rows import rows_of_group
from warehouse.rows import noun_of
from warehouse.unit_landing import land_unit, read_noun, write_head

GROUP_TABLES = ("ranking_groups", "matches", "ratings", "llm_calls")
NounT = TypeVar("NounT", bound=Noun)


def land_group(layout: Layout, ranked: RankedGroup) -> GroupReceipt:
    """Write all that ranking a group produced; afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    rows = rows_of_group(ranked)

    def receipt_of(size: int) -> GroupReceipt:
        return GroupReceipt(
            ranking_id=ranked.ranking_id,
            run_id=ranked.run_id,
            group=ranked.summary.group,
            rows={name: len(rows.get(name, ())) for name in GROUP_TABLES},
            bytes=size,
            incomplete_reason=ranked.incomplete_reason,
            started_at=ranked.started_at,
            finished_at=ranked.finished_at,
        )

    target = layout.ranked_group(ranked.run_id, ranked.ranking_id, ranked.summary.group)
    return land_unit(layout.run(ranked.run_id), target, rows, receipt_of)


def land_head(layout: Layout, head: RankingHead) -> None:
    """Say that the ranking is whole. Its groups have landed before."""
    write_head(layout.ranking_head(head.run_id, head.ranking_id), head)


def read_head(layout: Layout, run_id: RunId, ranking_id: str) -> RankingHead | None:
    """The head of a ranking; None when it has not landed whole."""
    return _parsed(layout.ranking_head(run_id, ranking_id), RankingHead)


def read_group_receipt(
    layout: Layout, run_id: RunId, ranking_id: str, group: str
) -> GroupReceipt | None:
    return _parsed(layout.ranked_group(run_id, ranking_id, group) / "receipt.json", GroupReceipt)


def iterate_group_receipts(
    layout: Layout, run_id: RunId, ranking_id: str
) -> Iterator[GroupReceipt]:
    """Receipts of a ranking's groups, in the order of their folders."""
    for path in sorted(layout.ranking(run_id, ranking_id).glob("group=*/receipt.json")):
        receipt = _parsed(path, GroupReceipt)
        if receipt is not None:
            yield receipt


def iterate_heads(layout: Layout, run_id: RunId) -> Iterator[RankingHead]:
    """Every whole ranking of a run."""
    for path in sorted(layout.run(run_id).glob("ranking=*/ranking.json")):
        head = _parsed(path, RankingHead)
        if head is not None:
            yield head


def landed_matches(layout: Layout, run_id: RunId, ranking_id: str, group: str) -> tuple[Match, ...]:
    """The matches of a landed group; none when it has not landed."""
    path = layout.ranked_group(run_id, ranking_id, group) / "matches.parquet"
    return (
        tuple(noun_of(Match, row) for row in read_rows(TABLE["matches"], path))
        if path.exists()
        else ()
    )


def failed_groups(layout: Layout, run_id: RunId, ranking_id: str) -> Iterator[GroupSummary]:
    """Groups that landed with a reason instead of ratings."""
    for receipt in iterate_group_receipts(layout, run_id, ranking_id):
        if receipt.incomplete_reason is not None and not receipt.rows.get("ratings"):
            path = layout.ranked_group(run_id, ranking_id, receipt.group) / "ranking_groups.parquet"
            for row in read_rows(TABLE["ranking_groups"], path):
                yield noun_of(GroupSummary, row)


def _parsed(path: Path, kind: type[NounT]) -> NounT | None:
    return read_noun(path, kind, "remove its folder to rank anew")
