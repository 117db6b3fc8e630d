"""Edits of curated sets by people, with statistics (ScholarEval, appendix D.3)."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.identifiers import RunId


class EditedField(StrEnum):
    """Field of an idea or of a statement that a person reviewed."""

    PROBLEM = "problem"
    METHOD = "method"
    EXPERIMENT = "experiment"
    STATEMENT = "statement"
    TYPE = "type"
    AXIS = "axis"
    SEVERITY = "severity"
    KEPT = "kept"
    SENTENCES = "sentences"

    @property
    def is_of_idea(self) -> bool:
        """Return whether it is a field of the idea, not of a statement."""
        return self in (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)


YES, NO = "yes", "no"
"""Values of the field `kept`."""
ADDED = "a-"
"""Prefix of statements that a person added."""


class CurationEdit(Noun):
    """Review of one field of a curated paper by a person, changed or not."""

    edit_id: str = Field(min_length=1, description="Unique.")
    run_id: RunId = Field(description="The run of the set.")
    paper_id: str = Field(min_length=1, description="The paper; a row of `curated_ideas`.")
    statement_id: str = Field(
        description="The statement, `a-…` if a person added it; empty: the idea itself."
    )
    field: EditedField = Field(description="The field.")
    before: Prose = Field(description="Value of the engine; empty: none.")
    after: Prose = Field(description="Value of the person; the same if unchanged.")
    editor: str = Field(min_length=1, description="Pseudonym of the person.")
    edited_at: datetime = Field(description="When it was saved.")
    is_blind: bool = Field(
        default=False,
        description="Whether they saw only the engine's values; blind edits do not change the set.",
    )

    @property
    def changed(self) -> bool:
        """Return whether more than white space differs."""
        return self.before.split() != self.after.split()


class EditShare(Noun):
    """Share of reviewed fields that people changed."""

    name: str
    looked_at_count: int = Field(ge=0)
    changed_count: int = Field(ge=0)
    published_0_to_1: float | None = Field(
        default=None, description="Of ScholarIdeas (Table 6); None: not published."
    )

    @property
    def share_0_to_1(self) -> float | None:
        """Share of changed fields; None without reviewed ones."""
        return self.changed_count / self.looked_at_count if self.looked_at_count else None


class EditAgreement(Noun):
    """Agreement of two people on the same fields, at least one of them blind."""

    field: EditedField
    pair_count: int = Field(ge=1, description="Fields reviewed by both, over all pairs of people.")
    equal_count: int = Field(ge=0)
    kappa: float | None = Field(
        default=None, description="Cohen's, -1 to 1; None: undefined, or the field is free text."
    )
    lower: float | None = Field(default=None, description="Lower end of its 95 % interval.")
    upper: float | None = Field(default=None, description="Upper end of its 95 % interval.")
    undefined_reason: str | None = Field(default=None, description="Why there is no kappa.")
