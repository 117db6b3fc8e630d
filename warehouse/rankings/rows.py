"""Rankings to rows and back. A field and its column bear the same name; what differs is written here."""

from collections.abc import Sequence

from schemas.base import Noun
from schemas.ranking import RankedGroup
from schemas.tables import TABLE
from warehouse.rows import Rows, row_of


def rows_of_group(ranked: RankedGroup) -> Rows:
    """Every row of one ranked group by table name; tables without rows are left out."""
    nouns: dict[str, Sequence[Noun]] = {
        "ranking_groups": (ranked.summary,),
        "matches": ranked.matches,
        "ratings": ranked.ratings,
        "llm_calls": ranked.llm_calls,
    }
    ids = {"run_id": ranked.run_id, "ranking_id": ranked.ranking_id}
    rows = {
        name: [row_of(TABLE[name], noun, ids | {"position": n}) for n, noun in enumerate(found)]
        for name, found in nouns.items()
    }
    return {name: found for name, found in rows.items() if found}
