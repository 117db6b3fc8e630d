"""Citations in Assay's texts, and counts of checked sentences."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import KnowledgeId, RetrievedPaperId

RemovedCitationCount = Annotated[
    int,
    Field(ge=0, description="Invented references and unknown keys removed from the reply."),
]
UncitedSentenceCount = Annotated[int, Field(ge=0, description="Sentences without a citation.")]
CheckedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Cited sentences checked against the stored texts; None: no check requested.",
    ),
]
CorrectedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Checked sentences rewritten to match the texts; None: no check requested.",
    ),
]
DroppedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Checked sentences removed as unsupported; None: no check requested.",
    ),
]
UndecidedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description=(
            "Of the checked, those that stay although the stored texts shown do not decide them;"
            " None: as above."
        ),
    ),
]


class Citation(Noun):
    """One paper, page or repository cited in one text of an evaluation."""

    paper_id: RetrievedPaperId | None = Field(
        description="The paper; None: a knowledge item that is not a paper.",
    )
    knowledge_id: KnowledgeId | None = Field(
        default=None,
        description="The knowledge item cited by the committee; None: cited by another module.",
    )
    citation_key: str = Field(description="Short key in the prompt, such as P7.")
    module: str = Field(description="soundness, contribution, committee, novelty or assessment.")
    subject: str = Field(
        description=(
            "method_id, dimension_id or `persona_id dimension`; `plan` for the review of the plan,"
            " and for the assessment's concerns, `concerns` for evidence on them, `officer` for a"
            " program officer's questions, `summary` for a summary, `meta_review`; of reasons the"
            " criterion."
        )
    )
    field: str = Field(
        description=(
            "support, contradictions, suggestions, concerns, defense, strengths, weaknesses, review,"
            " summary, justification, answers or reasons."
        )
    )
    count: int = Field(ge=1, description="Number of citations in the text.")
