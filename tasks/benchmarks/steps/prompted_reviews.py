"""Steps `prompted_soundness` and `prompted_contribution`: reviews of an idea by one prompt each.

ScholarEval's baselines review soundness and contribution separately (appendix F.1), from memory or
with the results of one search. Baselines: practices missing from the plan, and sentences of papers
near each method or dimension.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.contribution.steps.extract_dimensions import DimensionsInput, baseline_dimensions
from tasks.judging.relevance import ShownPaper
from tasks.judging.reply_fields import Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.soundness.steps.extract_methods import MethodsInput, baseline_methods
from tasks.text.quotations import passages
from tasks.text.signs import PRACTICES
from tasks.text.words import outcome_cue, rank_sentences, sentences


class PromptedSoundnessInput(Noun):
    """Input of `prompted_soundness`."""

    idea: str = Field(min_length=1)
    cutoff: str = Field(description="YYYY-MM-DD; empty: no bound.")
    papers: tuple[ShownPaper, ...] = Field(default=(), description="Empty: from memory.")


class ReviewedMethod(Reply):
    """One method of the idea."""

    method: Prose = Field(description="The method, in a few words.")
    support: Prose = ""
    contradictions: Prose = ""
    suggestions: Prose = ""


class PromptedSoundnessReply(Reply):
    """Every method reviewed; a broken entry is left out, not the others."""

    methods: Annotated[list[ReviewedMethod], SoundEntries] = Field(min_length=1)


MAXIMUM_METHODS = 6
NEAREST_PAPERS = 2


async def baseline_prompted_soundness(
    inputs: PromptedSoundnessInput, tools: BaselineTools
) -> PromptedSoundnessReply | NoAnswer:
    """Review the module's baseline methods by nearby sentences and missing good practices."""
    extraction = await baseline_methods(
        MethodsInput(idea=inputs.idea, maximum_methods=MAXIMUM_METHODS), tools
    )
    if isinstance(extraction, NoAnswer):
        return extraction
    missing = [name for name, pattern in PRACTICES.items() if not pattern.search(inputs.idea)]
    return PromptedSoundnessReply(
        methods=[
            _method(method.text, inputs.papers, missing[2 * place : 2 * place + 2])
            for place, method in enumerate(extraction.methods)
        ]
    )


def _method(text: str, papers: Sequence[ShownPaper], missing: Sequence[str]) -> ReviewedMethod:
    matches = nearest_sentences(text, papers)
    omissions = [f"Practices not named in the plan: {', '.join(missing)}"] if missing else []
    return ReviewedMethod(
        method=text,
        support=passages((text, key) for text, key, cue in matches if cue != "negative"),
        contradictions="\n\n".join(
            [
                *(passages([(text, key)]) for text, key, cue in matches if cue == "negative"),
                *omissions,
            ]
        ),
    )


def nearest_sentences(text: str, papers: Sequence[ShownPaper]) -> list[tuple[str, str, str]]:
    """Return the nearest sentences of the nearest papers.

    Each is (sentence, paper key, outcome cue).
    """
    ranked_papers = sorted(
        (
            (max(rank_sentences(text, sentences(paper.abstract), 1), default=(0.0, "")), paper)
            for paper in papers
        ),
        key=lambda pair: (-pair[0][0], pair[1].key),
    )
    return [
        (sentence, paper.key, outcome_cue(sentence))
        for (score, sentence), paper in ranked_papers[:NEAREST_PAPERS]
        if score > 0
    ]


PROMPTED_SOUNDNESS = Step(
    name="prompted_soundness",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptedSoundnessInput,
    output_model=PromptedSoundnessReply,
    baseline=baseline_prompted_soundness,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class PromptedContributionInput(PromptedSoundnessInput):
    """Input of `prompted_contribution`."""


class ReviewedDimension(Reply):
    """One facet of the contribution."""

    dimension: Prose = Field(description="Its name.")
    strengths: Prose = ""
    weaknesses: Prose = ""
    suggestions: Prose = ""


class PromptedContributionReply(Reply):
    """Every dimension reviewed; a broken entry is left out, not the others."""

    dimensions: Annotated[list[ReviewedDimension], SoundEntries] = Field(min_length=1)


MAXIMUM_DIMENSIONS = 4


async def baseline_prompted_contribution(
    inputs: PromptedContributionInput, tools: BaselineTools
) -> PromptedContributionReply | NoAnswer:
    """Review the module's baseline dimensions by the nearest sentences of the papers."""
    extraction = await baseline_dimensions(
        DimensionsInput(idea=inputs.idea, maximum_dimensions=MAXIMUM_DIMENSIONS), tools
    )
    if isinstance(extraction, NoAnswer):
        return extraction
    return PromptedContributionReply(
        dimensions=[
            _dimension(facet.name, " ".join(facet.statements), inputs.papers)
            for facet in extraction.dimensions
        ]
    )


def _dimension(name: str, statements: str, papers: Sequence[ShownPaper]) -> ReviewedDimension:
    # The idea's own sentences are omitted: a judge of coverage would take them for a review.
    matches = nearest_sentences(statements, papers)
    return ReviewedDimension(
        dimension=name, weaknesses=passages((text, key) for text, key, _ in matches)
    )


PROMPTED_CONTRIBUTION = Step(
    name="prompted_contribution",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptedContributionInput,
    output_model=PromptedContributionReply,
    baseline=baseline_prompted_contribution,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
