"""Steps of a review: section, aspect, second look, dispute, and the review as a whole.

Baselines understand nothing: leads and quotations are there or not, and nothing is rated.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from schemas.reasons import Reason
from tasks.judging.findings_of_judges import Finding, FindingsReply
from tasks.judging.reply_fields import Percent, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.manuscripts.steps.reading import Rating, Words
from tasks.text.quotations import stands_in
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


class CandidateReply(Finding):
    TEXT = "problem"

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


class SectionReply(FindingsReply):
    LIST = "candidates"

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


class Aspect(StrEnum):
    """What a reviewer looks at."""

    NOVELTY = "novelty"
    RIGOR = "rigor"
    CLARITY = "clarity"
    CONSISTENCY = "consistency"


class AspectInput(Noun):
    """What each reviewer is shown.

    Attributes:
        abstract: empty where none is marked off.
        notes: on all sections, in order.
        passages: sentences of the text that bear on the aspect, with their places.
        works: what was looked up, each under its key; empty: nothing.
        raised: problems that the reading of the sections raised.
        least_percent: how sure a point has to be.
    """

    aspect: Aspect
    title: str
    abstract: str
    notes: str
    passages: str
    works: tuple[str, ...]
    raised: tuple[str, ...]
    least_percent: int
    maximum_candidates: int


class AspectReply(FindingsReply):
    LIST = "candidates"

    assessment: Words = Field(default="", description="The aspect in at most three sentences.")
    rating_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    candidates: Annotated[list[CandidateReply], SoundEntries] = Field(
        description="The gravest first; may be empty."
    )


async def baseline_aspect(_: AspectInput, __: BaselineTools) -> AspectReply:
    """Rate nothing and object to nothing."""
    return AspectReply(candidates=[])


REVIEW_ASPECT = Step(
    name="review_aspect",
    version=5,
    package="tasks.manuscripts",
    input_model=AspectInput,
    output_model=AspectReply,
    baseline=baseline_aspect,
    kind=StepKind.JUDGEMENT,
)


_CONFIDENCE_PERCENT = 70
"""Confidence of the baseline, which compares words and checks no calculation."""


class Verdict(StrEnum):
    """What a second look finds: the text is wrong, the point is refuted, or nothing decides:
    open.
    """

    WRONG = "wrong"
    REFUTED = "refuted"
    OPEN = "open"


class RefuteInput(Noun):
    """A problem that was raised, and the passages it is held against.

    Attributes:
        works: what was looked up, each under its key; empty: nothing.
        before: what reviewers and the person who asks to look again said of it; empty: nobody did.
    """

    problem: str
    location: str
    quote: str
    explanation: str
    passages: str
    works: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


class RefuteReply(Reply):
    innocent_explanation: Words = Field(
        default="", description="The reading under which the authors are right."
    )
    quote: Words = Field(
        default="", description="The sentence that decides, word for word; empty without one."
    )
    reason: Words = Field(description="What decides, in at most three sentences.")
    verdict: Verdict
    confidence_percent: Percent = Field(
        ge=0, le=100, description="How sure the verdict is, in percent."
    )


async def baseline_refute(inputs: RefuteInput, _: BaselineTools) -> RefuteReply:
    """It understands nothing: a quotation is there or it is not."""
    is_quote_present = not inputs.quote or stands_in(
        inputs.quote, inputs.passages, least_characters=1
    )
    return RefuteReply(
        reason=(
            "The sentence stands in the text; nothing more was looked at."
            if is_quote_present
            else "The sentence it points at does not stand in the text."
        ),
        verdict=Verdict.WRONG if is_quote_present else Verdict.REFUTED,
        confidence_percent=_CONFIDENCE_PERCENT,
    )


REFUTE_PROBLEM = Step(
    name="refute_problem",
    version=6,
    package="tasks.manuscripts",
    input_model=RefuteInput,
    output_model=RefuteReply,
    baseline=baseline_refute,
    kind=StepKind.JUDGEMENT,
)


class WeighInput(Noun):
    """A problem over which reviewers disagree, and the passages it is held against.

    Attributes:
        dispute: in what they disagree.
        works: what was looked up, each under its key; empty: nothing.
    """

    problem: str
    location: str
    quote: str
    explanation: str
    second_look: str
    dispute: str
    passages: str
    works: tuple[str, ...] = ()


class WeighReply(Reply):
    optimistic: Words = Field(
        min_length=1, description="For the authors, in at most three sentences."
    )
    sceptical: Words = Field(min_length=1, description="Against them, in at most three sentences.")
    would_decide: Words = Field(
        default="", description="The check that would settle it, in at most three sentences."
    )


async def baseline_weigh(inputs: WeighInput, _: BaselineTools) -> WeighReply:
    """Return both sides without weighing them."""
    return WeighReply(
        optimistic=inputs.second_look or inputs.dispute,
        sceptical=inputs.explanation or inputs.problem,
    )


WEIGH_PROBLEM = Step(
    name="weigh_problem",
    version=2,
    package="tasks.manuscripts",
    input_model=WeighInput,
    output_model=WeighReply,
    baseline=baseline_weigh,
    kind=StepKind.JUDGEMENT,
)


_SUMMARY_SENTENCES = 3


def _as_list(value: object) -> object:
    """Accept null for an empty list, and a text for a list of one."""
    return [] if value is None else [value] if isinstance(value, str) else value


class ReviewInput(Noun):
    """What a reading to the end has left.

    Attributes:
        abstract: empty where none is marked off.
        notes: of the last section's reading.
        problems: those that stand, the gravest first.
        open_questions: what was raised and could be neither confirmed nor refuted.
        not_read: empty where all was.
    """

    title: str
    abstract: str
    notes: str
    problems: tuple[str, ...]
    open_questions: tuple[str, ...]
    not_read: str


class ReviewReply(Reply):
    summary: Words = Field(min_length=1, description="Three to five sentences.")
    strengths: Annotated[list[Words], BeforeValidator(_as_list)] = Field(
        default_factory=list, description="At most five, each in a sentence."
    )
    questions: Annotated[list[Words], BeforeValidator(_as_list)] = Field(
        default_factory=list, description="At most five, to the authors."
    )
    soundness_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    clarity_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    confidence_1_to_5: Rating = Field(
        default=None, description="How sure the ratings are: 1 hardly, 5 quite."
    )


async def baseline_review(inputs: ReviewInput, _: BaselineTools) -> ReviewReply | NoAnswer:
    """Summarize by the abstract without ratings: rules do not understand text."""
    summary = sentences(inputs.abstract)[:_SUMMARY_SENTENCES]
    if not summary:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "no abstract is marked off to be summed up")
    return ReviewReply(summary=" ".join(summary))


WRITE_REVIEW = Step(
    name="write_review",
    version=4,
    package="tasks.manuscripts",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
