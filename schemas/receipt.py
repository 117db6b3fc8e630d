"""What every landed unit says of itself, whatever its kind."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.reasons import Reason


class UnitReceipt(Noun):
    """Written last into a unit's landing folder: without it the folder does not exist."""

    run_id: RunId
    rows: dict[str, int] = Field(default={}, description="Rows landed by table.")
    bytes: int = Field(default=0, ge=0)
    incomplete_reason: Reason | None = Field(
        default=None,
        description="Why the unit's work ended early; None when it ran to its end.",
    )
    started_at: datetime
    finished_at: datetime

    @property
    def complete(self) -> bool:
        return self.incomplete_reason is None
