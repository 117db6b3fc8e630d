"""Where a paper, page or repository is cited in what Assay wrote."""

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import PaperId


class Citation(Noun):
    """One paper, page or repository cited in one text of the evaluation."""

    paper_id: PaperId | None = Field(description="None where no paper of the table `papers` is cited; `knowledge_id` names it.")
    knowledge_id: str | None = Field(default=None, description="The knowledge item cited by the committee; None in other modules.")
    citation_key: str = Field(description="The short key the engine saw, such as P7.")
    module: str = Field(description="soundness, contribution, committee or novelty.")
    subject: str = Field(description="method_id, dimension_id or `persona_id dimension`; `summary` for a summary, `meta_review`.")
    field: str = Field(description="support, contradictions, suggestions, strengths, weaknesses, review, summary or justification.")
    count: int = Field(ge=1, description="How often the text cites it.")
