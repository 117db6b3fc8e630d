"""Something that did not work out, kept beside what did."""

from pydantic import Field

from schemas.base import Noun, Writable


class Failure(Noun):
    """A failed look-up, judgement, document or idea. Lands in the table `failures`."""

    stage: str = Field(description="read_ideas, soundness, contribution, literature, documents, evaluate.")
    subject: Writable = Field(description="What failed: a method, paper, query or idea, by identifier.")
    reason: str = Field(description="A closed word: an UnscoredReason, a SourceFailure reason or a RejectedIdea reason.")
    detail: Writable = Field(description="One line: what happened and, where it can be mended, how.")
    retryable: bool = Field(default=False, description="Whether running again may help.")
