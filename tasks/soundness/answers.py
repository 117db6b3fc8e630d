"""What engines answer to the soundness steps."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Reply


def _text(value: object) -> object:
    """Models write null for nothing to say, and a list where several paragraphs were meant."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return value


Text = Annotated[str, BeforeValidator(_text)]


class ProposedMethod(Reply):
    """One method of the idea."""

    text: Text = Field(description="What is done, how, on what and what for; understandable alone.")
    quote: Text = Field(default="", description="The idea's own words, copied.")


class MethodsReply(Reply):
    """Reply to `extract_methods`: most important first."""

    methods: tuple[ProposedMethod, ...]


class MethodQuery(Reply):
    """The query for one of the methods shown."""

    method: int = Field(ge=1, description="The number of the method, as shown.")
    query: str = Field(min_length=1)


class QueriesReply(Reply):
    """Reply to `soundness_query`."""

    queries: tuple[MethodQuery, ...] = Field(min_length=1)


class PaperReading(Reply):
    """What one paper has to say about the method; the three texts are empty when it is not relevant."""

    key: str
    relevant: bool
    method: Text = ""
    results: Text = ""
    context: Text = ""


class EvidenceReply(Reply):
    """Reply to `method_evidence`: one reading per key."""

    papers: tuple[PaperReading, ...]


class ReviewReply(Reply):
    """Reply to `soundness_review`. Statements carry keys such as [P3]."""

    support: Text
    contradictions: Text
    suggestions: Text
    score: float = Field(ge=0, le=10, description="0 the method fails, 5 mixed or thin evidence, 10 established.")


class SummaryReply(Reply):
    """Reply to `soundness_summary`: up to three of each, most important first."""

    strengths: tuple[str, ...] = Field(max_length=12)
    weaknesses: tuple[str, ...] = Field(max_length=12)
    suggestions: tuple[str, ...] = Field(max_length=12)
