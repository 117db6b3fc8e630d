"""Proposals of an audit of a snapshot."""

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
    """A finding without a proposed correction."""


class ProposalState(StrEnum):
    """State of a proposal."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


class Proposal(Noun):
    """Possible defect of one record, with a proposed correction."""

    proposal_id: str = Field(description="Content hash, 12 hexadecimal digits.")
    rule: str = Field(description="Name of the rule, which is the name of its SQL file.")
    defect: Defect = Field(description="Kind of the defect.")
    paper_id: str = Field(description="The paper's identifier in the snapshot.")
    title: str = Field(description="Title at the time of the audit.")
    field: str = Field(
        description="Field of the record; `reference`: a list entry; `record`: the whole record."
    )
    action: Action = Field(description="Effect of accepting it.")
    old: str | None = Field(
        description="Current value in JSON; of a reference its position, of a duplicate its"
        " paper_id."
    )
    new: str | None = Field(
        description="Proposed value in JSON; of a duplicate the paper_id that is kept."
    )
    evidence: str = Field(description="Reason of the proposal.")
    confidence_0_to_1: float = Field(ge=0, le=1, description="Confidence of the rule.")
    state: ProposalState = Field(description="State of the proposal.")
    decided_by: str | None = Field(description="`person` or the accepted rule; null: not decided.")
