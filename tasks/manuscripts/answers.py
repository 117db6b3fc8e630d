"""What engines answer to the steps about manuscripts."""

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from schemas.base import Reply

_LONGEST = 8_000


def _text(value: Any) -> Any:
    """Numbers and lists as models write places ([3, 4], 12) become text; null becomes nothing."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _said(value: Any) -> Any:
    """`Yes.` and `no` as models write them."""
    if isinstance(value, str):
        word = value.strip().strip(".*\"'").casefold()
        return {"yes": True, "no": False}.get(word, value)
    return value


Words = Annotated[str, BeforeValidator(_text), Field(max_length=_LONGEST)]


class ReportedProblem(Reply):
    problem: Words = Field(min_length=1, description="What is wrong, in one sentence.", validation_alias=AliasChoices("problem", "Problem"))
    location: Words = Field(
        description="Page, section, equation, theorem, table or figure.", validation_alias=AliasChoices("location", "Location")
    )
    explanation: Words = Field(
        description="Why it is wrong and which conclusion falls with it.", validation_alias=AliasChoices("explanation", "Explanation")
    )


class ProblemList(Reply):
    """The most damaging problem first; an empty list says that nothing critical is wrong."""

    problems: list[ReportedProblem] = Field(description="At most as many as asked for; may be empty.")

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: Any) -> Any:
        return {"problems": value} if isinstance(value, list) and value else value


class HitAnswer(Reply):
    explanation: Words = Field(description="Why, in at most three sentences.")
    hit: Annotated[bool, BeforeValidator(_said)] = Field(description="Whether both speak of the same problem.")
