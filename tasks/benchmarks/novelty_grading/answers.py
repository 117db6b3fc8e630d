"""What engines answer to the grading steps."""

from typing import Annotated

from pydantic import Field

from schemas.base import Reply
from tasks.judging.reply_fields import SoundEntries, Text


class AspectsAnswer(Reply):
    """Both lists may be empty: a justification need not argue."""

    known: list[Text] = Field(description="Arguments that something in the idea exists already.")
    novel: list[Text] = Field(description="Arguments that something in the idea is new.")


class AlignmentAnswer(Reply):
    reason: str = Field(default="", description="What agrees and what does not.")
    score: int = Field(ge=0, le=10, description="0 nothing in common, 10 the same arguments and the same conclusion.")


class CheckedArgument(Reply):
    number: int = Field(ge=1, description="The number of the argument, as shown.")
    supported: bool


class CheckAnswer(Reply):
    arguments: Annotated[list[CheckedArgument], Field(min_length=1), SoundEntries]
