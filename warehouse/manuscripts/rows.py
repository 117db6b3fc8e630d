"""Checks of manuscripts to rows and back. A field and its column bear the same name; what differs is written here."""

from collections import Counter
from collections.abc import Sequence

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.manuscripts import ManuscriptCheck
from schemas.tables import TABLE
from warehouse.rows import Row, Rows, row_of

PART_TABLES = ("manuscripts", "attempts", "problems", "votes", "llm_calls", "api_calls", "failures")


def rows_of_checks(run_id: RunId, checks: Sequence[ManuscriptCheck]) -> Rows:
    """Every row of some checked manuscripts by table name; tables without rows are left out."""
    rows: Rows = {name: [] for name in PART_TABLES}
    for check in checks:
        for name, nouns in _nouns(check).items():
            known: Row = {
                "run_id": run_id,
                "manuscript_id": check.manuscript_id,
                "idea_id": check.manuscript_id,
            }
            rows[name].extend(
                row_of(TABLE[name], noun, known | {"position": n}) for n, noun in enumerate(nouns)
            )
    for row in rows["manuscripts"]:
        if row["content_sha256"] == "":
            row["content_sha256"] = row["word_count"] = None
    for row in rows["failures"]:
        row["recorded_by"] = "manuscripts"
    _number(rows["problems"])
    return {name: found for name, found in rows.items() if found}


def _nouns(check: ManuscriptCheck) -> dict[str, Sequence[Noun]]:
    return {
        "manuscripts": (check,),
        "attempts": check.attempts,
        "problems": check.problems,
        "votes": check.votes,
        "llm_calls": check.llm_calls,
        "api_calls": check.api_calls,
        "failures": check.failures,
    }


def _number(problems: list[Row]) -> None:
    """Give each problem its rank within its attempt; they stand in that order."""
    seen: Counter[tuple[object, object]] = Counter()
    for row in problems:
        attempt = (row["manuscript_id"], row["attempt"])
        seen[attempt] += 1
        row["rank"] = seen[attempt]
