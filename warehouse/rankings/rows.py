"""Rankings to rows and back. A field and its column bear the same name; what differs is written here."""

from collections.abc import Sequence
from typing import Any

from schemas.base import Noun
from schemas.outcome import Provenance
from schemas.ranking import GroupSummary, Match, RankedGroup, Rating, Winner
from schemas.tables import TABLE
from warehouse.rows import Row, Rows, row_of


def rows_of_group(ranked: RankedGroup) -> Rows:
    """Every row of one ranked group by table name; tables without rows are left out."""
    nouns: dict[str, Sequence[Noun]] = {
        "ranking_groups": (ranked.summary,),
        "matches": ranked.matches,
        "ratings": ranked.ratings,
        "llm_calls": ranked.llm_calls,
    }
    ids = {"run_id": ranked.run_id, "ranking_id": ranked.ranking_id}
    rows = {name: [row_of(TABLE[name], noun, ids | {"position": n}) for n, noun in enumerate(found)] for name, found in nouns.items()}
    for row in rows["matches"]:
        row["winner_idea_id"] = {Winner.FIRST: row["first_idea_id"], Winner.SECOND: row["second_idea_id"]}.get(row["winner"])
    return {name: found for name, found in rows.items() if found}


def match_of(row: Row) -> Match:
    """The match that `rows_of_group` made a row of."""
    provenance = {name: row[name] for name in Provenance.model_fields} if row["step"] is not None else None
    return Match.model_validate(_fields(Match, row) | {"provenance": provenance}, strict=False)


def rating_of(row: Row) -> Rating:
    return Rating.model_validate(_fields(Rating, row), strict=False)


def summary_of(row: Row) -> GroupSummary:
    return GroupSummary.model_validate(_fields(GroupSummary, row), strict=False)


def _fields(kind: type[Noun], row: Row) -> dict[str, Any]:
    return {name: row[name] for name in kind.model_fields if name in row}
