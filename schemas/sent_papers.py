"""Papers with their reviews as programs send them."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from schemas.idea import cutoff_day

MOST_PAPERS = 100
_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,58}[A-Za-z0-9])?$"


def _a_day(text: str) -> str:
    if text:
        cutoff_day(text)
    return text


class SentReview(BaseModel):
    """One review of a paper."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(description="As its reviewer wrote it.")
    rating: float | None = Field(default=None, description="On the venue's own scale.")
    confidence: float | None = Field(default=None, description="The reviewer's own.")


class SentPaper(BaseModel):
    """A paper and its reviews."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper_id: str = Field(pattern=_NAME, description="What the idea will be called.")
    text: str = Field(min_length=1, description="The paper as Markdown, with its headings.")
    reviews: tuple[SentReview, ...] = Field(min_length=1, max_length=50)
    title: str = ""
    url: str = ""
    licence: str = Field(default="", description="Under which paper and reviews may be used.")
    discipline: str = ""
    decision: str = ""
    cutoff_date: Annotated[str, AfterValidator(_a_day)] = Field(
        default="", description="Day it was submitted: YYYY-MM-DD or YYYY-MM."
    )
    version: int | None = Field(
        default=None, ge=1, description="1: what its reviewers had first; None: nobody says."
    )
