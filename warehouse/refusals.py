"""Runs that were checked and kept out of the lake."""

from datetime import datetime

import orjson

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.run import ValidationRow
from warehouse.answers import ValidationReport
from warehouse.layout import Layout


class Refusal(Noun):
    """A run whose landed files broke a critical expectation."""

    run_id: RunId
    checked_at: datetime | None
    broken: tuple[ValidationRow, ...]


def read_refusals(layout: Layout) -> tuple[Refusal, ...]:
    """The runs whose last check refused them, latest check first; a result that another version
    wrote is passed over.
    """
    found = []
    for path in layout.landing.glob("run=*/validation.json"):
        content = orjson.loads(path.read_bytes())
        if content.pop("passed", True) or set(content) != set(ValidationReport.model_fields):
            continue
        report = ValidationReport.model_validate(content, strict=False)
        checked_at = max((row.created_at for row in report.rows), default=None)
        found.append(Refusal(run_id=report.run_id, checked_at=checked_at, broken=report.broken))
    return tuple(sorted(found, key=lambda refusal: str(refusal.checked_at), reverse=True))
