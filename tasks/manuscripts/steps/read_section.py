"""`read_section`: problems of one section, given notes on earlier ones, and updated notes.

Baseline: leads of the text checks, and the sentences with figures as notes.
"""

from typing import Annotated

from pydantic import AliasChoices, Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.judging.reply_fields import Percent, SoundEntries
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.reading import Words
from tasks.text.words import has_numbers, sentences, shorten_words

NOTES_WORDS = 350


class LeadShown(Noun):
    """What a check of the whole text reports of a section."""

    problem: str
    quote: str
    explanation: str
    confidence_percent: int = Field(ge=0, le=100, description="Not shown.")


class SectionInput(Noun):
    """One section of a manuscript, and what was noted of those before it.

    Attributes:
        form: `latex`, `text` or `pdf`.
        place: page and heading.
        notes: of the step's answer about the section before; empty at the beginning.
        leads: what checks of the whole text report of this section, the gravest first.
        least_percent: how sure a point has to be.
    """

    title: str
    form: str
    place: str
    section: str
    notes: str
    leads: tuple[LeadShown, ...]
    least_percent: int
    maximum_candidates: int


class CandidateReply(Reply):
    problem: Words = Field(min_length=1, description="What is wrong, in one sentence.")
    quote: Words = Field(
        default="",
        description="The sentence that shows it, word for word.",
        validation_alias=AliasChoices("quote", "Quote"),
    )
    explanation: Words = Field(description="Why it is wrong.")
    consequence: Words = Field(
        description="What the text says that changes if the point holds; empty: nothing."
    )
    confidence_percent: Percent = Field(ge=0, le=100, description="How sure it is, in percent.")


class SectionReply(Reply):
    candidates: Annotated[list[CandidateReply], SoundEntries] = Field(
        description="The gravest first; may be empty."
    )
    notes: Words = Field(default="", description="For the next section, at most 350 words.")


async def baseline_section(inputs: SectionInput, _: BaselineTools) -> SectionReply:
    """Return every lead as a candidate and nothing else."""
    number_sentences = [each for each in sentences(inputs.section) if has_numbers(each)]
    notes, _left_out = shorten_words(
        " ".join([inputs.notes, *number_sentences]).strip(), NOTES_WORDS
    )
    return SectionReply(
        candidates=[
            CandidateReply(consequence=lead.problem, **lead.model_dump())
            for lead in inputs.leads[: inputs.maximum_candidates]
        ],
        notes=notes,
    )


READ_SECTION = Step(
    name="read_section",
    version=5,
    package="tasks.manuscripts",
    input_model=SectionInput,
    output_model=SectionReply,
    baseline=baseline_section,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
