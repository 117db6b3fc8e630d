"""What an audit of a snapshot finds, and what it proposes to do about it."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun


class Defect(StrEnum):
    """Defect that a record may have."""

    WRONG = "wrong"
    MISSING = "missing"
    DUPLICATE = "duplicate"


class Action(StrEnum):
    """Change that a proposal would make."""

    SET = "set"
    REMOVE_REFERENCE = "remove_reference"
    MERGE = "merge"
    NONE = "none"
    """A finding: nothing here says what would be right."""


class ProposalState(StrEnum):
    """State of a proposal."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


class Proposal(Noun):
    """One thing that seems wrong with one record, and what would mend it."""

    proposal_id: str = Field(description="12 hexadecimal digits over what it says.")
    rule: str = Field(description="The rule that found it: the name of its SQL file.")
    defect: Defect = Field(description="Whether something is wrong, missing or there twice.")
    paper_id: str = Field(description="The paper, as the snapshot names it.")
    title: str = Field(description="Its title when it was looked at.")
    field: str = Field(
        description="The field; `reference`: an entry of its list; `record`: the whole of it."
    )
    action: Action = Field(description="What accepting it does.")
    old: str | None = Field(
        description="As it is, in JSON; of a reference, its position; of a duplicate, its paper_id."
    )
    new: str | None = Field(
        description="As it would be, in JSON; of a duplicate, the paper_id that is kept."
    )
    evidence: str = Field(description="Why.")
    confidence_0_to_1: float = Field(ge=0, le=1, description="How sure the rule is.")
    state: ProposalState = Field(description="Where it stands.")
    decided_by: str | None = Field(
        description="`person` or the rule that was accepted; null: nobody yet."
    )
