"""Runs whose publication was refused."""

from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.run import ValidationRow
from warehouse.layout import Layout
from warehouse.parquet import read_bytes
from warehouse.row_models import ValidationReport


class Refusal(Noun):
    """A run whose landed files broke a critical expectation."""

    run_id: RunId
    checked_at: datetime | None
    broken: tuple[ValidationRow, ...]


def read_refusals(layout: Layout) -> tuple[Refusal, ...]:
    """Return the refused runs, latest validation first; unreadable results are skipped."""
    results = map(read_refusal, layout.landing.glob("run=*/validation.json"))
    refusals = [refusal for refusal in results if refusal is not None]
    return tuple(sorted(refusals, key=lambda refusal: str(refusal.checked_at), reverse=True))


def read_refusal(path: Path) -> Refusal | None:
    """Return the refusal in a validation file; None if it passed or is unreadable."""
    try:
        content: dict[str, Any] = orjson.loads(read_bytes(path))
        if content.pop("passed", True):
            return None
        report = ValidationReport.model_validate(content, strict=False)
    except (OSError, AttributeError, TypeError, ValueError):
        return None
    checked_at = max((row.created_at for row in report.rows), default=None)
    return Refusal(run_id=report.run_id, checked_at=checked_at, broken=report.broken)
