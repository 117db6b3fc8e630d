"""Checks of manuscripts: their declaration, and how a checked manuscript is landed.

landing/check=<run>/part=<hash>/<table>.parquet, receipt.json
landing/check=<run>/check.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.check_run import CheckHead
from schemas.works.manuscripts import REVIEW_STAGES, ManuscriptCheck
from warehouse.units.kind import Given, Kind
from warehouse.units.record import UnitRecord

CHECKS = Kind(
    folders={"check": "run_id"},
    unit=("part", "manuscript_id"),
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
)


def _reasons(check: ManuscriptCheck) -> Iterator[Reason | None]:
    yield check.unread_reason
    yield from (attempt.unscored_reason for attempt in check.attempts)
    yield from (vote.unscored_reason for vote in check.votes)
    yield from (one.reason for one in check.failures if one.stage in REVIEW_STAGES)


CHECK_RECORD = UnitRecord(
    kind=CHECKS,
    noun=ManuscriptCheck,
    recorded_by="manuscripts",
    reasons=_reasons,
)
