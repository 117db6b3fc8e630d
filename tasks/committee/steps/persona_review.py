"""`persona_review`: one reviewer's judgement along each dimension.

Baseline: scores from what can be counted, reasons from the findings that count most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.committee import IdeaPart, Relation
from schemas.confidence import CONFIDENCE_MEANING, Confidence, confidence_by_evidence
from schemas.judging import StepKind
from tasks.committee.steps import measures
from tasks.committee.steps.measures import Finding
from tasks.committee.steps.shown import KnowledgeShown, PartShown, in_words
from tasks.judging.reply_fields import Key, Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.wording import quotable


class ReviewerShown(Noun):
    """Who is to review."""

    name: str
    profile: str
    habits: str


class DimensionShown(Noun):
    """One criterion."""

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
    reviewer: ReviewerShown
    dimensions: tuple[DimensionShown, ...] = Field(min_length=1)


def _within_scale(value: object) -> int | None:
    """The confidence; None: not said, or off the scale. It costs no score."""
    told = str(value).strip()
    return int(told) if told in ("0", "1", "2", "3") else None


class DimensionReview(Reply):
    """One reviewer's judgement along one dimension. Statements about knowledge carry keys such as [P3]."""

    dimension: Key = Field(description="The name of the dimension, exactly as shown.")
    review: Prose
    score: float = Field(ge=0, le=10)
    confidence: Annotated[Confidence | None, BeforeValidator(_within_scale)] = Field(
        default=None, description=CONFIDENCE_MEANING
    )


class PersonaReply(Reply):
    """Reply to `persona_review`: one entry per dimension asked for; a broken one leaves its dimension unscored, not the others."""

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
    """`share` 0 to 1 becomes the score; `reason` says what was counted; findings on `parts` are
    quoted.
    """

    share: float
    reason: str
    parts: tuple[IdeaPart, ...] = tuple(IdeaPart)


async def baseline_review(inputs: PersonaInput, tools: BaselineTools) -> PersonaReply | NoAnswer:
    """One entry per dimension.

    The five shipped ones have measures of their own; another is judged by support and kinship.
    """
    del tools
    return PersonaReply(reviews=[_reviewed(inputs, dimension) for dimension in inputs.dimensions])


def _reviewed(inputs: PersonaInput, dimension: DimensionShown) -> DimensionReview:
    judge = _JUDGES.get(dimension.name)
    judgement = judge(inputs) if judge is not None else _other(inputs, dimension)
    score = min(max(10 * judgement.share + measures.leaning(inputs.reviewer.habits), 0.0), 10.0)
    return DimensionReview(
        dimension=dimension.name,
        review=" ".join(
            (
                judgement.reason,
                *_quotations(inputs, judgement.parts),
                *_missing(inputs, judgement.parts),
            )
        ),
        score=round(score, 1),
        confidence=_confidence(inputs, judgement.parts),
    )


def _confidence(inputs: PersonaInput, parts: tuple[IdeaPart, ...]) -> int:
    """By the items that bear on the parts judged; where none are, the text itself is the evidence."""
    if not parts:
        return _BY_THE_TEXT
    relevance: dict[str, float] = {}
    for each in measures.findings(inputs.evidence, parts):
        relevance[each.key] = max(relevance.get(each.key, 0.0), each.found.relevance_0_to_1)
    strong = sum(value >= _STRONG for value in relevance.values())
    return confidence_by_evidence(strong=strong, fair=len(relevance) - strong)


def _clarity(inputs: PersonaInput) -> _Judgement:
    complete, concrete, readable = (
        measures.completeness(inputs.parts),
        measures.concreteness(inputs.parts),
        measures.readability(inputs.parts),
    )
    reason = (
        f"The text has {round(6 * complete)} of the six parts of an idea; {concrete:.0%} of its"
        " claims name a figure, a method or a term, and its sentences are"
        f" {'short enough to follow' if readable > 0.5 else 'long'}."
    )
    return _Judgement(0.5 * complete + 0.3 * concrete + 0.2 * readable, reason, ())


def _novelty(inputs: PersonaInput) -> _Judgement:
    near = measures.closeness(inputs.evidence, _CORE)
    reason = (
        f"The nearest knowledge covers {near:.0%} of the idea's core, over its parts; the more it"
        " covers, the less is new."
    )
    return _Judgement(1 - near, reason, _CORE)


def _feasibility(inputs: PersonaInput) -> _Judgement:
    found = measures.findings(inputs.evidence, _TESTING)
    planned = bool(measures.claims_of(inputs.parts, IdeaPart.METHODS)) + bool(
        measures.claims_of(inputs.parts, IdeaPart.EXPERIMENTAL_SETTINGS)
    )
    support, at_hand = measures.support_share(found), any(each.kind == "code" for each in found)
    reason = (
        f"Methods and settings are {('absent', 'half there', 'both there')[planned]}; findings on"
        f" them lean {_leaning(support)}{', and code for them is at hand' if at_hand else ''}."
    )
    return _Judgement(
        0.35 * planned / 2 + 0.35 * support + 0.25 * measures.ease(inputs.idea) + 0.05 * at_hand,
        reason,
        _TESTING,
    )


def _validity(inputs: PersonaInput) -> _Judgement:
    found = measures.findings(inputs.evidence)
    support, tested = (
        measures.support_share(found),
        bool(measures.claims_of(inputs.parts, IdeaPart.EXPERIMENTAL_SETTINGS)),
    )
    supporting, refuting = (
        sum(each.found.relation == relation for each in found)
        for relation in (Relation.SUPPORTS, Relation.REFUTES)
    )
    verdict = "described" if tested else "not described"
    reason = (
        f"Findings that support its parts: {supporting}; that refute them: {refuting}. A test is"
        f" {verdict}."
    )
    return _Judgement(0.8 * support + 0.2 * tested, reason)


def _significance(inputs: PersonaInput) -> _Judgement:
    found = measures.findings(inputs.evidence, _PURPOSE)
    support, reach = measures.support_share(found), measures.reach(inputs.idea, inputs.parts)
    interest = min(len({each.key for each in found}) / 6, 1.0)
    reason = (
        f"Items that bear on its purpose: {len({each.key for each in found})}, "
        f"leaning {_leaning(support)}; its words reach {_far(reach)}."
    )
    return _Judgement(0.4 * support + 0.3 * interest + 0.3 * reach, reason, _PURPOSE)


def _other(inputs: PersonaInput, dimension: DimensionShown) -> _Judgement:
    support = measures.support_share(measures.findings(inputs.evidence))
    kinship = measures.kinship(
        inputs.idea, f"{dimension.name.replace('_', ' ')} {dimension.question}"
    )
    reason = (
        f"Findings lean {_leaning(support)}, and the idea shares {kinship:.0%} of the words in"
        " which this is asked."
    )
    return _Judgement(0.6 * support + 0.4 * min(2 * kinship, 1.0), reason)


_JUDGES: dict[str, Callable[[PersonaInput], _Judgement]] = {
    "clarity": _clarity,
    "novelty": _novelty,
    "feasibility": _feasibility,
    "validity": _validity,
    "significance": _significance,
}


def _quotations(inputs: PersonaInput, parts: tuple[IdeaPart, ...]) -> list[str]:
    """The most relevant findings for and against, in the words of the knowledge."""
    quotable_findings = [
        each for each in measures.findings(inputs.evidence, parts) if each.found.evidence
    ]
    found = list(
        {(each.key, each.found.evidence): each for each in reversed(quotable_findings)}.values()
    )[::-1]
    against = [each for each in found if each.found.relation == Relation.REFUTES][:_QUOTED]
    supporting = [each for each in found if each.found.relation == Relation.SUPPORTS][:_QUOTED]
    return [_quotation(each, "In support of") for each in supporting] + [
        _quotation(each, "Against") for each in against
    ]


def _quotation(each: Finding, side: str) -> str:
    return (
        f"{side} its {in_words(each.found.part)}: “{quotable(each.found.evidence)}” [{each.key}]."
    )


def _missing(inputs: PersonaInput, parts: tuple[IdeaPart, ...]) -> list[str]:
    absent = [
        in_words(part.value)
        for part in parts or tuple(IdeaPart)
        if not measures.claims_of(inputs.parts, part)
    ]
    return [f"The idea does not say: {', '.join(absent)}."] if absent else []


def _leaning(support: float) -> str:
    return "toward it" if support > 0.55 else "against it" if support < 0.45 else "neither way"


def _far(reach: float) -> str:
    return (
        "far" if reach > 0.6 else "beyond its niche" if reach > 0.2 else "no further than its niche"
    )


PERSONA_REVIEW = Step(
    name="persona_review",
    version=2,
    package="tasks.committee",
    input_model=PersonaInput,
    output_model=PersonaReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
