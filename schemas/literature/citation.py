"""Where a paper, page or repository is cited in what Assay wrote."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import KnowledgeId, RetrievedPaperId

RemovedCitationCount = Annotated[
    int,
    Field(
        ge=0, description="References the reply made up and keys that were never shown, taken out."
    ),
]
UncitedSentenceCount = Annotated[int, Field(ge=0, description="Sentences without a citation.")]
CheckedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Cited sentences held against the stored texts; None: no check was asked for.",
    ),
]
CorrectedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Of the checked, those rewritten to what the texts carry; None: as above.",
    ),
]
DroppedSentenceCount = Annotated[
    int | None,
    Field(
        ge=0,
        description="Of the checked, those taken out: no text carries them; None: as above.",
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
        description="The paper; None: a knowledge item without one is cited.",
    )
    knowledge_id: KnowledgeId | None = Field(
        default=None,
        description="The knowledge item cited by the committee; None: another module cites.",
    )
    citation_key: str = Field(description="The short key the engine saw, such as P7.")
    module: str = Field(description="soundness, contribution, committee, novelty or assessment.")
    subject: str = Field(
        description=(
            "method_id, dimension_id or `persona_id dimension`; `plan` for the review of the plan,"
            " and for the assessment's concerns, `concerns` for evidence on them, `summary` for a"
            " summary, `meta_review`; of reasons the criterion."
        )
    )
    field: str = Field(
        description=(
            "support, contradictions, suggestions, concerns, defense, strengths, weaknesses, review,"
            " summary, justification or reasons."
        )
    )
    count: int = Field(ge=1, description="How often the text cites it.")
