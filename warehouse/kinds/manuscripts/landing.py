"""Checks of manuscripts: their declaration, and how checked manuscripts are landed.

landing/check=<run>/part=<hash>/<table>.parquet, receipt.json
landing/check=<run>/check.json
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.people.ledger import Artefact
from schemas.reasons import Reason, first_that_may_pass
from schemas.run import UnitReceipt
from schemas.tables import TABLE
from schemas.works.check_run import CheckHead
from schemas.works.manuscripts import REVIEW_STAGES, ManuscriptCheck
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing
from warehouse.units.kind import Given, Kind

CHECKS = Kind(
    folders={"check": "run_id"},
    unit=("part", "part"),
    unit_is_hashed=True,
    receipt=UnitReceipt,
    head=CheckHead,
    head_table="check_runs",
    has_head_file=True,
    tables=(
        *("manuscripts", "attempts", "problems", "manuscript_reviews", "votes"),
        *("manuscript_evidence", "llm_calls", "api_calls", "failures"),
    ),
    checks=("check_checks", "attempts"),
    artefact=(Artefact.FINDING, "manuscript_id"),
    given=Given("manuscript", "manuscripts", ("content_sha256",)),
    remedy="remove its folder to check anew",
    publish_again="check again",
)


def land_checks(
    layout: Layout,
    run_id: RunId,
    part: str,
    checks: Sequence[ManuscriptCheck],
    started_at: datetime,
    finished_at: datetime,
) -> UnitReceipt:
    """Write all that checking some manuscripts gave, as one part of the run.

    Afterwards it exists, or nothing has changed.

    Raises:
        PublicationError: a row does not fit its table.
    """
    reasons = (reason for check in checks for reason in _reasons(check))
    receipt = UnitReceipt(
        run_id=run_id,
        unit=part,
        incomplete_reason=first_that_may_pass(reasons),
        started_at=started_at,
        finished_at=finished_at,
    )
    return landing.land(layout, CHECKS, rows_of_checks(run_id, checks), receipt)


def _reasons(check: ManuscriptCheck) -> Iterator[Reason | None]:
    yield check.unread_reason
    yield from (attempt.unscored_reason for attempt in check.attempts)
    yield from (vote.unscored_reason for vote in check.votes)
    yield from (one.reason for one in check.failures if one.stage in REVIEW_STAGES)


def rows_of_checks(run_id: RunId, checks: Sequence[ManuscriptCheck]) -> Rows:
    """Every row of some checked manuscripts by table name; tables without rows are left out."""
    rows: Rows = {name: [] for name in CHECKS.tables}
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
        "manuscript_reviews": check.reviews,
        "votes": check.votes,
        "manuscript_evidence": check.works,
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
