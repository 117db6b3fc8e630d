"""What people change in a curated set, and how much that was (ScholarEval, appendix D.3)."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.identifiers import RunId


class EditedField(StrEnum):
    """Field of an idea or of a statement that a person looked at."""

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
        """Return whether it is part of the idea; else of one of its statements."""
        return self in (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)


YES, NO = "yes", "no"
"""What the field `kept` may be."""
ADDED = "a-"
"""With which the names of statements begin that a person added."""


class CurationEdit(Noun):
    """One thing of a curated paper that a person looked at, and what they made of it."""

    edit_id: str = Field(min_length=1, description="Unique.")
    run_id: RunId = Field(description="The run of the set.")
    paper_id: str = Field(min_length=1, description="The paper; a row of `curated_ideas`.")
    statement_id: str = Field(
        description="The statement, `a-…` where a person added it; empty: the idea itself."
    )
    field: EditedField = Field(description="What of it.")
    before: Prose = Field(description="As the engine had it; empty: it had none.")
    after: Prose = Field(description="As the person has it; the same: they left it as it was.")
    editor: str = Field(min_length=1, description="Pseudonym of who looked at it.")
    edited_at: datetime = Field(description="When it was saved.")
    is_blind: bool = Field(
        default=False,
        description="Whether they saw only what the engine had; the set does not follow them.",
    )

    @property
    def changed(self) -> bool:
        """Return whether more than white space differs."""
        return self.before.split() != self.after.split()


class EditShare(Noun):
    """Share of what people looked at that they changed."""

    name: str
    looked_at_count: int = Field(ge=0)
    changed_count: int = Field(ge=0)
    published_0_to_1: float | None = Field(
        default=None, description="Of ScholarIdeas (Table 6); None: it was not printed."
    )

    @property
    def share_0_to_1(self) -> float | None:
        """None: nothing was looked at."""
        return self.changed_count / self.looked_at_count if self.looked_at_count else None


class EditAgreement(Noun):
    """Agreement of two people who looked at the same, one at least of them blind."""

    field: EditedField
    pair_count: int = Field(ge=1, description="Things looked at by both, over all pairs of people.")
    equal_count: int = Field(ge=0)
    kappa: float | None = Field(
        default=None, description="Cohen's, -1 to 1; None: undefined, or the field is free text."
    )
    lower: float | None = Field(default=None, description="Lower end of its 95 % interval.")
    upper: float | None = Field(default=None, description="Upper end of its 95 % interval.")
    undefined_reason: str | None = Field(default=None, description="Why there is no kappa.")
