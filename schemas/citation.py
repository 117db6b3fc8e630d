"""Where a paper is cited in what Assay wrote."""

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import PaperId


class Citation(Noun):
    """One paper cited in one text of the evaluation."""

    paper_id: PaperId
    citation_key: str = Field(description="The short key the engine saw, such as P7.")
    module: str = Field(description="soundness or contribution.")
    subject: str = Field(description="method_id or dimension_id; `summary` for the summary.")
    field: str = Field(description="support, contradictions, suggestions, strengths or weaknesses.")
    count: int = Field(ge=1, description="How often the text cites it.")
