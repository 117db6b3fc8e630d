"""`survey_reading`: what works say on the question and of themselves, in their own words.

Baseline: of each work the sentences nearest to the question.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.literature.survey_review import Aspect
from schemas.reasons import Reason
from tasks.judging.reply_fields import KeyedEntry, Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.words import rank_sentences, sentences


class ReadSection(Noun):
    """One section of a work, as far as it is shown."""

    kind: str = Field(pattern="^[a-z_]+$", description="abstract, methods, results or discussion.")
    text: str
    words_left_out: int = Field(default=0, ge=0)


class ReadWork(Noun):
    """One work to read, under the key the reply must use."""

    key: str
    title: str
    sections: tuple[ReadSection, ...] = Field(min_length=1)


class ReadingInput(Noun):
    """Input of `survey_reading`."""

    question: str = Field(min_length=1)
    papers: tuple[ReadWork, ...] = Field(min_length=1)


class ReadPassage(Reply):
    """One passage; None: a word outside the list."""

    aspect: Annotated[Aspect | None, word_of(Aspect)]
    quote: Prose = Field(default="", description="The work's own words, copied.")


class ReadEntry(KeyedEntry):
    """The passages of one work; empty where its text says nothing that was asked for."""

    passages: Annotated[tuple[ReadPassage, ...], SoundEntries] = Field(
        default=(), description="The most telling first."
    )


class ReadingReply(Reply):
    """Reply to `survey_reading`: one entry for every key."""

    papers: Annotated[list[ReadEntry], Field(min_length=1), SoundEntries]


async def baseline_reading(inputs: ReadingInput, tools: BaselineTools) -> ReadingReply | NoAnswer:
    """NoAnswer(no_evidence) where no text shares a word with the question."""
    del tools
    entries = []
    for paper in inputs.papers:
        told = [sentence for section in paper.sections for sentence in sentences(section.text)]
        nearest = [text for score, text in rank_sentences(inputs.question, told, 2) if score > 0]
        passages = tuple(ReadPassage(aspect=Aspect.ANSWER, quote=text) for text in nearest)
        entries.append(ReadEntry(key=paper.key, passages=passages))
    if not any(entry.passages for entry in entries):
        return NoAnswer(Reason.NO_EVIDENCE, "no text shares a word with the question")
    return ReadingReply(papers=entries)


SURVEY_READING = Step(
    name="survey_reading",
    version=1,
    package="tasks.survey",
    input_model=ReadingInput,
    output_model=ReadingReply,
    baseline=baseline_reading,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
