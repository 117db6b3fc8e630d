"""What engines answer to the committee's steps."""

from pydantic import Field

from schemas.base import Reply
from schemas.committee import Decision, IdeaPart
from tasks.soundness.answers import Text


class StructureReply(Reply):
    """Reply to `structure_idea`: each part a list of atomic claims, empty where the idea has none."""

    tldr: tuple[str, ...]
    motivations: tuple[str, ...]
    research_questions: tuple[str, ...]
    methods: tuple[str, ...]
    experimental_settings: tuple[str, ...]
    expected_results: tuple[str, ...]

    def claims(self) -> dict[IdeaPart, tuple[str, ...]]:
        """Statements by part, in the order of the parts; blank and repeated ones are left out."""
        stated = {part: (" ".join(text.split()) for text in getattr(self, part.value)) for part in IdeaPart}
        return {part: tuple(dict.fromkeys(text for text in texts if text)) for part, texts in stated.items()}


class DimensionReview(Reply):
    """One reviewer's judgement along one dimension. Statements about knowledge carry keys such as [P3]."""

    dimension: str
    review: Text
    score: float = Field(ge=0, le=10)


class PersonaReply(Reply):
    """Reply to `persona_review`: one entry per dimension asked for."""

    reviews: tuple[DimensionReview, ...] = Field(min_length=1)


class MetaReply(Reply):
    """Reply to `meta_review`."""

    summary: Text
    strengths: Text
    weaknesses: Text
    decision: Decision


class LaterReply(Reply):
    """Reply to `later_suggestions`."""

    suggestions: Text
