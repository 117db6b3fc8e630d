"""Steps of reviews by personas, the meta-review, and suggestions from later knowledge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import Decision, IdeaPart, Relation
from schemas.judging import StepKind
from schemas.outcome import CONFIDENCE_MEANING, Confidence, confidence_by_evidence
from tasks.committee.steps.prompt_inputs import (
    KnowledgeShown,
    PartShown,
    claims_of,
    closeness,
    completeness,
    concreteness,
    ease,
    findings,
    kinship,
    quotations,
    reach,
    readability,
    support_share,
)
from tasks.judging.reply_fields import Key, Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step, no_baseline
from tasks.judging.suggestions import ProposedSuggestions


class ReviewerShown(Noun):
    name: str
    profile: str
    habits: str


class DimensionShown(Noun):
    name: str
    question: str
    scale: str


class PersonaInput(Noun):
    """Input of `persona_review`. The evidence is what this reviewer knows, nothing else."""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...]
    evidence: tuple[KnowledgeShown, ...] = Field(
        description="Most relevant first; empty when nothing is known to the reviewer."
    )
    unanswered_searches: int = Field(ge=0, description="What they would have shown is unknown.")
    field_not_covered: bool = Field(
        default=False, description="The literature was not searched: it does not cover the field."
    )
    reviewer: ReviewerShown
    dimensions: tuple[DimensionShown, ...] = Field(min_length=1)


def _within_scale(value: object) -> int | None:
    """Return the confidence; None if missing or off the scale, which keeps the score valid."""
    text = str(value).strip()
    return int(text) if text in ("0", "1", "2", "3") else None


class DimensionReview(Reply):
    """One reviewer's judgement along one dimension. Statements about knowledge carry keys such as
    [P3].
    """

    dimension: Key = Field(description="The name of the dimension, exactly as shown.")
    review: Prose
    score: float = Field(ge=0, le=10, description="By the scale of the dimension.")
    confidence: Annotated[Confidence | None, BeforeValidator(_within_scale)] = Field(
        default=None, description=CONFIDENCE_MEANING
    )


class PersonaReply(Reply):
    """Reply to `persona_review`: one entry per dimension asked for; a broken one leaves its
    dimension unscored, not the others.
    """

    reviews: Annotated[list[DimensionReview], Field(min_length=1), SoundEntries]


_QUOTED = 2
_STRONG = 0.7
"""Relevance from which a finding counts as strong evidence."""
_BY_THE_TEXT = 2
_TESTING = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
_PURPOSE = (IdeaPart.MOTIVATIONS, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.EXPECTED_RESULTS)
_CORE = (IdeaPart.TLDR, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.METHODS)


@dataclass(frozen=True, slots=True)
class _Judgement:
    """A baseline judgement: the score as `share` 0 to 1, a summary, and parts to quote findings on."""

    share: float
    summary: str
    parts: tuple[IdeaPart, ...] = tuple(IdeaPart)


async def baseline_review(inputs: PersonaInput, tools: BaselineTools) -> PersonaReply | NoAnswer:
    """Review each dimension by counts, with quoted findings for and against.

    The five bundled dimensions have their own measures; others are judged by support and shared
    words. The reviewer matters only through the evidence that it knows.
    """
    del tools
    return PersonaReply(
        reviews=[_review_dimension(inputs, dimension) for dimension in inputs.dimensions]
    )


def _review_dimension(inputs: PersonaInput, dimension: DimensionShown) -> DimensionReview:
    judge = _JUDGES.get(dimension.name)
    judgement = judge(inputs) if judge is not None else _other(inputs, dimension)
    return DimensionReview(
        dimension=dimension.name,
        review="\n\n".join((judgement.summary, *_quotations(inputs, judgement.parts))),
        score=round(10 * judgement.share, 1),
        confidence=_confidence(inputs, judgement.parts),
    )


def _confidence(inputs: PersonaInput, parts: tuple[IdeaPart, ...]) -> int:
    """Return the confidence by items on the judged parts; without parts the text is the evidence."""
    if not parts:
        return _BY_THE_TEXT
    relevance: dict[str, float] = {}
    for each in findings(inputs.evidence, parts):
        relevance[each.key] = max(relevance.get(each.key, 0.0), each.finding.relevance_0_to_1)
    strong = sum(value >= _STRONG for value in relevance.values())
    return confidence_by_evidence(strong=strong, fair=len(relevance) - strong)


def _clarity(inputs: PersonaInput) -> _Judgement:
    complete, concrete, readable = (
        completeness(inputs.parts),
        concreteness(inputs.parts),
        readability(inputs.parts),
    )
    summary = (
        f"Parts stated: {round(6 * complete)} of 6; claims with a figure, name or term:"
        f" {concrete:.0%}; readability: {readable:.0%}"
    )
    return _Judgement(0.5 * complete + 0.3 * concrete + 0.2 * readable, summary, ())


def _novelty(inputs: PersonaInput) -> _Judgement:
    core_closeness = closeness(inputs.evidence, _CORE)
    return _Judgement(
        1 - core_closeness, f"Closeness of the nearest knowledge: {core_closeness:.0%}", _CORE
    )


def _feasibility(inputs: PersonaInput) -> _Judgement:
    test_findings = findings(inputs.evidence, _TESTING)
    stated_parts = bool(claims_of(inputs.parts, IdeaPart.METHODS)) + bool(
        claims_of(inputs.parts, IdeaPart.EXPERIMENTAL_SETTINGS)
    )
    support, at_hand = (
        support_share(test_findings),
        any(each.kind == "code" for each in test_findings),
    )
    easy = ease(inputs.idea)
    summary = (
        f"Methods and settings stated: {stated_parts} of 2; support among findings: {support:.0%};"
        f" code found: {'yes' if at_hand else 'no'}; ease by the resources named: {easy:.0%}"
    )
    share = 0.35 * stated_parts / 2 + 0.35 * support + 0.25 * easy + 0.05 * at_hand
    return _Judgement(share, summary, _TESTING)


def _validity(inputs: PersonaInput) -> _Judgement:
    all_findings = findings(inputs.evidence)
    support, states_test = (
        support_share(all_findings),
        bool(claims_of(inputs.parts, IdeaPart.EXPERIMENTAL_SETTINGS)),
    )
    supporting, refuting = (
        sum(each.finding.relation == relation for each in all_findings)
        for relation in (Relation.SUPPORTS, Relation.REFUTES)
    )
    summary = f"Findings for: {supporting}; against: {refuting}; test stated: {'yes' if states_test else 'no'}"
    return _Judgement(0.8 * support + 0.2 * states_test, summary)


def _significance(inputs: PersonaInput) -> _Judgement:
    purpose_findings = findings(inputs.evidence, _PURPOSE)
    support, reach_share = support_share(purpose_findings), reach(inputs.idea, inputs.parts)
    items = len({each.key for each in purpose_findings})
    summary = (
        f"Items on its purpose: {items}; support among them: {support:.0%}; words of wide reach:"
        f" {reach_share:.0%}"
    )
    return _Judgement(
        0.4 * support + 0.3 * min(items / 6, 1.0) + 0.3 * reach_share, summary, _PURPOSE
    )


def _other(inputs: PersonaInput, dimension: DimensionShown) -> _Judgement:
    support = support_share(findings(inputs.evidence))
    shared_words = kinship(inputs.idea, f"{dimension.name.replace('_', ' ')} {dimension.question}")
    summary = (
        f"Support among findings: {support:.0%}; words shared with the question: {shared_words:.0%}"
    )
    return _Judgement(0.6 * support + 0.4 * min(2 * shared_words, 1.0), summary)


_JUDGES: dict[str, Callable[[PersonaInput], _Judgement]] = {
    "clarity": _clarity,
    "novelty": _novelty,
    "feasibility": _feasibility,
    "validity": _validity,
    "significance": _significance,
}


def _quotations(inputs: PersonaInput, parts: tuple[IdeaPart, ...]) -> list[str]:
    quotable_findings = [each for each in findings(inputs.evidence, parts) if each.finding.evidence]
    return [
        quotation
        for relation in (Relation.SUPPORTS, Relation.REFUTES)
        for quotation in quotations(
            each for each in quotable_findings if each.finding.relation == relation
        )[:_QUOTED]
    ]


PERSONA_REVIEW = Step(
    name="persona_review",
    version=3,
    package="tasks.committee",
    input_model=PersonaInput,
    output_model=PersonaReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)


class ReviewShown(Noun):
    reviewer: str
    dimension: str
    score_0_to_10: float = Field(ge=0, le=10)
    confidence_0_to_3: int | None = Field(default=None, ge=0, le=3)
    review: str


class DimensionFigures(Noun):
    name: str
    mean: float = Field(ge=0, le=10)
    spread: float | None = Field(
        description="Standard deviation over reviewers; None with a single one."
    )
    scored_count: int = Field(ge=1)


class MetaInput(Noun):
    """Input of `meta_review`. The total is computed, not asked for."""

    idea: str = Field(min_length=1)
    total_score_0_to_10: float = Field(ge=0, le=10)
    figures: tuple[DimensionFigures, ...] = Field(min_length=1)
    unscored_count: int = Field(ge=0)
    reviews: tuple[ReviewShown, ...] = Field(min_length=1)


def _parse_decision(value: object) -> object:
    """Read decisions such as `reject.`, `SPOTLIGHT` and `Accept (Poster)`; leave others to validation."""
    if not isinstance(value, str):
        return value
    decisions = [
        decision.value for decision in Decision if decision.value.casefold() in value.casefold()
    ]
    return decisions[0] if len(decisions) == 1 else value


class MetaReply(Reply):
    """Reply to `meta_review`."""

    summary: Prose = Field(description="One or two paragraphs.")
    strengths: Prose
    weaknesses: Prose
    decision: Annotated[Decision, BeforeValidator(_parse_decision)]


THRESHOLDS = ((7.8, Decision.ORAL), (7.4, Decision.SPOTLIGHT), (7.2, Decision.POSTER))
"""Least totals of the decisions, from InnoEval's released prompt; below all of them: Reject."""
_VOICES = 2


async def baseline_conclusion(inputs: MetaInput, tools: BaselineTools) -> MetaReply | NoAnswer:
    del tools
    ranked_figures = sorted(inputs.figures, key=lambda figure: (-figure.mean, figure.name))
    return MetaReply(
        summary=_figures(inputs, ranked_figures),
        strengths=_voices(inputs, ranked_figures[:_VOICES], best=True),
        weaknesses=_voices(inputs, ranked_figures[::-1][:_VOICES], best=False),
        decision=decision_by_total(inputs.total_score_0_to_10),
    )


def decision_by_total(total_score_0_to_10: float) -> Decision:
    return next(
        (decision for threshold, decision in THRESHOLDS if total_score_0_to_10 >= threshold),
        Decision.REJECT,
    )


def _figures(inputs: MetaInput, ordered: list[DimensionFigures]) -> str:
    means = ", ".join(f"{figure.name.replace('_', ' ')} {figure.mean:.1f}" for figure in ordered)
    return (
        f"Baseline total: {inputs.total_score_0_to_10:.1f} of 10; means: {means}; reviews scored:"
        f" {len(inputs.reviews)}; not scored: {inputs.unscored_count}"
    )


def _voices(inputs: MetaInput, figures: list[DimensionFigures], *, best: bool) -> str:
    """Return the highest or lowest scoring review of each dimension."""
    chosen_reviews = [
        (
            sorted(
                ([each for each in inputs.reviews if each.dimension == figure.name]),
                key=lambda each: (
                    -each.score_0_to_10 if best else each.score_0_to_10,
                    each.reviewer,
                ),
            )[0]
        )
        for figure in figures
    ]
    return "\n\n".join(
        f"{each.dimension.replace('_', ' ').capitalize()}: {each.review}" for each in chosen_reviews
    )


META_REVIEW = Step(
    name="meta_review",
    version=3,
    package="tasks.committee",
    input_model=MetaInput,
    output_model=MetaReply,
    baseline=baseline_conclusion,
    kind=StepKind.JUDGEMENT,
)


class LaterInput(Noun):
    """Input of `later_suggestions`: what appeared after the idea's time point, and where the idea
    was found weak.
    """

    idea: str = Field(min_length=1)
    weaknesses: str
    knowledge: tuple[KnowledgeShown, ...] = Field(min_length=1)


class LaterReply(Reply):
    """Reply to `later_suggestions`: none where nothing shown asks for a change."""

    suggestions: ProposedSuggestions = Field(description="Up to six, weightiest first.")


LATER_SUGGESTIONS = Step(
    name="later_suggestions",
    version=3,
    package="tasks.committee",
    input_model=LaterInput,
    output_model=LaterReply,
    baseline=no_baseline("no change was suggested; use --engine litellm:MODEL for suggestions"),
    kind=StepKind.JUDGEMENT,
)
