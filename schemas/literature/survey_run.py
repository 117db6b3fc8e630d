"""One command that surveys questions: what was asked, what it is, what landed."""

from datetime import date

from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.literature.survey import SurveyParameters
from schemas.literature.survey_review import Written
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request

LONGEST_QUESTION = 4_000
"""Characters; a longer text is no question but a paper."""


def as_question(given: str) -> str:
    """The text of a question, on one line.

    Raises:
        ConfigurationError: it is empty, or too long.
    """
    text = " ".join(given.encode("utf-8", "replace").decode().split())
    if not text:
        raise ConfigurationError('ask a question, such as "how do bats find moths?"')
    if len(text) > LONGEST_QUESTION:
        raise ConfigurationError(
            f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} are the most"
        )
    return text


class SurveyQuestion(Noun):
    """One question to be followed."""

    question_id: str = Field(min_length=1)
    question: str = Field(min_length=1)


SurveyRequest = Request[SurveyQuestion, SurveyParameters]


class SurveyHead(WorkHead):
    """One run of surveys by one engine over one literature."""

    profile: str = Field(description="Profile the run followed.")
    literature: str = Field(description="Where papers came from, with its fingerprint.")
    depth: int = Field(ge=0, description="Most hops along the citation graph.")
    maximum_papers: int = Field(ge=1, description="Most papers kept of a question.")
    maximum_judged: int = Field(ge=1, description="Most papers judged for a question.")
    papers_read: int = Field(
        ge=0, description="Most papers read for a review of a question; 0: none is written."
    )
    written: Written = Field(description="What a model writes.")
    cutoff_date: date | None = Field(description="Nothing later was looked at; None: no limit.")
    question_count: int = Field(ge=0, description="Questions.")
    incomplete_reason: EndedEarly = None
