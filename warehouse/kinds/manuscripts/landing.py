"""Checks of manuscripts: their declaration, and how a checked manuscript is landed.

landing/check=<run>/manuscript=<name>/<table>.parquet, receipt.json
landing/check=<run>/check.json
"""

from collections.abc import Iterator

from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.works.check_run import CheckHead
from schemas.works.manuscripts import REVIEW_STAGES, ManuscriptCheck
from warehouse.units.kind import Kind


def _reasons(check: ManuscriptCheck) -> Iterator[Reason | None]:
    yield check.unread_reason
    yield from (attempt.unscored_reason for attempt in check.attempts)
    yield from (vote.unscored_reason for vote in check.votes)
    yield from (one.reason for one in check.failures if one.stage in REVIEW_STAGES)


CHECKS = Kind(
    folders={"check": "run_id"},
    unit=("manuscript", "manuscript_id"),
    noun=ManuscriptCheck,
    head=CheckHead,
    receipt=UnitReceipt,
    tables=(
        *("manuscripts", "attempts", "problems", "manuscript_reviews", "votes"),
        *("manuscript_evidence", "llm_calls", "api_calls", "failures"),
    ),
    artefact=Artefact.FINDING,
    given=("content_sha256",),
    reasons=_reasons,
)
