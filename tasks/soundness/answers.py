"""What engines answer to the soundness steps."""

from pydantic import Field

from schemas.base import Reply
from tasks.judging.reply_fields import Prose


class ProposedMethod(Reply):
    """One method of the idea."""

    text: Prose = Field(description="What is done, how, on what and what for; understandable alone.")
    quote: Prose = Field(default="", description="The idea's own words, copied.")


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
    method: Prose = ""
    results: Prose = ""
    context: Prose = ""


class EvidenceReply(Reply):
    """Reply to `method_evidence`: one reading per key."""

    papers: tuple[PaperReading, ...]


class ReviewReply(Reply):
    """Reply to `soundness_review`. Statements carry keys such as [P3]."""

    support: Prose
    contradictions: Prose
    suggestions: Prose
    score: float = Field(ge=0, le=10, description="0 the method fails, 5 mixed or thin evidence, 10 established.")


class SummaryReply(Reply):
    """Reply to `soundness_summary`: up to three of each, most important first."""

    strengths: tuple[str, ...] = Field(max_length=12)
    weaknesses: tuple[str, ...] = Field(max_length=12)
    suggestions: tuple[str, ...] = Field(max_length=12)
