"""What the novelty steps are asked: every field is shown in the step's prompt."""

from pydantic import Field

from schemas.base import Noun

STAGE = "novelty"


class WorkShown(Noun):
    """A related work under the key a reply must cite it by."""

    key: str
    title: str
    year: int | None
    abstract: str = Field(min_length=1)


class StatementsQuestion(Noun):
    """Input of `novelty_queries`."""

    idea: str = Field(min_length=1)
    maximum_statements: int = Field(ge=1)
    maximum_queries: int = Field(ge=1, description="Per statement.")


class NoveltyQuestion(Noun):
    """Input of `judge_novelty`."""

    idea: str = Field(min_length=1)
    works: tuple[WorkShown, ...] = Field(min_length=1, description="Most similar first, or as they were given.")
    unanswered_searches: int = Field(ge=0, description="What they would have shown is unknown.")
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of the justification; None: a few sentences.")
