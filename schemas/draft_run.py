"""One command that writes a draft: what it is written from, what it is, what landed."""

from datetime import datetime

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.draft import DraftClaim, DraftFigure, DraftWork, Form
from schemas.identifiers import RunId
from schemas.place import WarehouseFolder
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Budget, UnitReceipt, WorkRequest


class PlannedSection(Noun):
    """What the outline says of one section."""

    heading: str = Field(min_length=1, max_length=200)
    purpose: str = Field(min_length=1, max_length=2_000, description="What it has to say.")
    claim_keys: tuple[str, ...] = ()
    figure_ids: tuple[str, ...] = ()
    planned_words: int = Field(default=300, ge=20, le=5_000)


class StoredText(Noun):
    """A text of another paper, which a draft must not repeat."""

    title: str
    text: str


class Material(Noun):
    """All that a draft is written from, collected before any sentence."""

    form: Form
    title: str = Field(min_length=1)
    claims: tuple[DraftClaim, ...]
    figures: tuple[DraftFigure, ...]
    works: tuple[DraftWork, ...]
    stored: tuple[StoredText, ...] = ()


class DraftRequest(WorkRequest):
    """What a user asked to be written, resolved."""

    draft_id: str = Field(min_length=1)
    warehouse: WarehouseFolder
    profile: Profile = Field(description="Says which models are asked, and how.")
    engine: EngineChoice = EXTRACTIVE
    api_base: str | None = None
    budget: Budget = Budget()
    material: Material
    outline: tuple[PlannedSection, ...]
    idea_run_id: RunId | None = None
    experiment_run_ids: tuple[RunId, ...] = ()
    survey_run_id: RunId | None = None
    remarks: tuple[str, ...] = Field(default=(), description="What it could not be written from.")


class DraftHead(Noun):
    """One draft by one engine, and what it rests on."""

    run_id: RunId = Field(description="The run the row belongs to.")
    engine: str = Field(description="What wrote it.")
    idea_run_id: RunId | None = Field(
        default=None, description="The run that evaluated the idea; None: it came from a file."
    )
    experiment_run_ids: tuple[str, ...] = Field(
        default=(), description="Runs of experiments that it reports."
    )
    survey_run_id: RunId | None = Field(
        default=None, description="The survey that its works are from; None: there was none."
    )
    incomplete_reason: Reason | None = Field(
        default=None,
        description="Why the run ended early; None when it ran to its end.",
    )
    started_at: datetime = Field(description="Start of the run.")
    finished_at: datetime = Field(description="End of it.")


class DraftReceipt(UnitReceipt):
    """The receipt of one draft."""

    draft_id: str
