"""Two ideas, what is known of each and the dimensions to compare them along, as `compare_ideas`
shows them.
"""

from pydantic import Field

from schemas.base import Noun


class ShownScore(Noun):
    """A score an earlier module gave."""

    name: str
    score_0_to_10: float


class ShownEvidence(Noun):
    """A paper as an engine sees it: never its identifier, so that only shown keys can be cited."""

    key: str
    title: str
    year: int | None
    idea: str = Field(description="The idea it was read for: A or B.")
    bearing: str = Field(description="for, against or neither.")
    text: str = Field(min_length=1)


class ShownIdea(Noun):
    """One of the two ideas. Texts name papers by key."""

    title: str
    text: str = Field(min_length=1)
    summary: str = ""
    claims: tuple[str, ...] = ()
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    module_scores: tuple[ShownScore, ...] = Field(default=(), description="Scored modules only.")
    dimension_scores: tuple[ShownScore, ...] = Field(
        default=(), description="Scored committee dimensions only."
    )
    evidence: tuple[ShownEvidence, ...] = ()


class ShownCriterion(Noun):
    """A dimension as an engine sees it."""

    name: str
    question: str
    scale: str = ""
