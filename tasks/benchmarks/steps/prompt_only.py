"""`prompt_only`: a review of a whole idea from memory.

Baseline: what the plan leaves out. `prompt_with_search` answers in the same form.
"""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.contribution.steps.extract_dimensions import DimensionsInput, baseline_dimensions
from tasks.contribution.steps.shown import ShownPaper
from tasks.judging.reply_fields import Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.soundness.steps.extract_methods import MethodsInput, baseline_methods
from tasks.text.quotations import passages
from tasks.text.signs import PRACTICES
from tasks.text.words import outcome_cue, rank_sentences, sentences


class ReviewedMethod(Reply):
    """One method of the idea."""

    method: Prose = Field(description="The method, in a few words.")
    support: Prose = ""
    contradictions: Prose = ""
    suggestions: Prose = ""


class ReviewedDimension(Reply):
    """One facet of the contribution."""

    dimension: Prose = Field(description="Its name.")
    strengths: Prose = ""
    weaknesses: Prose = ""
    suggestions: Prose = ""


class WholeReviewReply(Reply):
    """A review in the form that Assay's own evaluations have; a broken entry is left out, not the others."""

    methods: Annotated[list[ReviewedMethod], SoundEntries] = Field(default_factory=list)
    dimensions: Annotated[list[ReviewedDimension], SoundEntries] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.methods or self.dimensions):
            raise ValueError("neither a method nor a dimension is reviewed")
        return self


MAXIMUM_METHODS = 6
MAXIMUM_DIMENSIONS = 4
NEAREST_PAPERS = 2


async def extractive_review(
    idea: str, papers: Sequence[ShownPaper], tools: BaselineTools
) -> WholeReviewReply | NoAnswer:
    """The idea's methods and dimensions, each with what the plan leaves out and the nearest
    sentences of `papers`.
    """
    methods = await baseline_methods(
        MethodsInput(idea=idea, maximum_methods=MAXIMUM_METHODS), tools
    )
    dimensions = await baseline_dimensions(
        DimensionsInput(idea=idea, maximum_dimensions=MAXIMUM_DIMENSIONS), tools
    )
    if isinstance(methods, NoAnswer) and isinstance(dimensions, NoAnswer):
        return methods
    missing = [practice.name for practice in PRACTICES if not practice.pattern.search(idea)]
    named = [] if isinstance(methods, NoAnswer) else [method.text for method in methods.methods]
    facets = [] if isinstance(dimensions, NoAnswer) else dimensions.dimensions
    return WholeReviewReply(
        methods=[
            _method(text, papers, missing[2 * place : 2 * place + 2])
            for place, text in enumerate(named)
        ],
        dimensions=[_dimension(facet.name, " ".join(facet.statements), papers) for facet in facets],
    )


def _method(text: str, papers: Sequence[ShownPaper], missing: Sequence[str]) -> ReviewedMethod:
    said = _said(text, papers)
    lacking = [f"Practices not named in the plan: {', '.join(missing)}"] if missing else []
    return ReviewedMethod(
        method=text,
        support=passages((text, key) for text, key, cue in said if cue != "negative"),
        contradictions="\n\n".join(
            [*(passages([(text, key)]) for text, key, cue in said if cue == "negative"), *lacking]
        ),
    )


def _dimension(name: str, statements: str, papers: Sequence[ShownPaper]) -> ReviewedDimension:
    """The idea's own sentences are not repeated: a judge of coverage would take an echo for a
    review.
    """
    said = _said(statements, papers)
    return ReviewedDimension(
        dimension=name, weaknesses=passages((text, key) for text, key, _ in said)
    )


def _said(text: str, papers: Sequence[ShownPaper]) -> list[tuple[str, str, str]]:
    """The nearest sentence of each of the nearest papers, with its key, and whether it tells of
    success or failure.
    """
    nearest = sorted(
        (
            (max(rank_sentences(text, sentences(paper.abstract), 1), default=(0.0, "")), paper)
            for paper in papers
        ),
        key=lambda pair: (-pair[0][0], pair[1].key),
    )
    return [
        (sentence, paper.key, outcome_cue(sentence))
        for (score, sentence), paper in nearest[:NEAREST_PAPERS]
        if score > 0
    ]


class PromptOnlyInput(Noun):
    """Review an idea from memory."""

    idea: str = Field(min_length=1)
    cutoff: str = Field(description="YYYY-MM-DD; empty: no bound.")


async def baseline_prompt_only(
    inputs: PromptOnlyInput, tools: BaselineTools
) -> WholeReviewReply | NoAnswer:
    """Methods and dimensions as the modules' own baselines find them, with good practices the plan
    leaves out; nothing is cited.
    """
    return await extractive_review(inputs.idea, (), tools)


PROMPT_ONLY = Step(
    name="prompt_only",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptOnlyInput,
    output_model=WholeReviewReply,
    baseline=baseline_prompt_only,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
