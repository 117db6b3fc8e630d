"""What engines answer to the novelty steps."""

from typing import Annotated

from pydantic import Field

from schemas.base import Reply
from tasks.judging.reply_fields import SoundEntries, Text


class SearchedStatement(Reply):
    statement: Text = Field(description="One thing the idea proposes, understandable on its own.")
    queries: Annotated[list[Text], Field(min_length=1)] = Field(description="Short search queries.")


class StatementsAnswer(Reply):
    statements: Annotated[list[SearchedStatement], Field(min_length=1), SoundEntries]


class NoveltyAnswer(Reply):
    """Known aspects cite the works that have them; both lists may be empty, the justification not."""

    known_aspects: list[Text] = Field(default_factory=list, description="What related works have already, each with keys.")
    novel_aspects: list[Text] = Field(default_factory=list, description="What none of the related works has.")
    justification: Text = Field(description="Why this score, with keys.")
    score: int = Field(ge=1, le=5, description="1 not novel, 5 highly novel.")
