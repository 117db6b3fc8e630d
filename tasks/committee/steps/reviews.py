"""Steps of reviews by personas, the meta-review, and suggestions from later knowledge."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import Decision, IdeaPart, Relation
from schemas.judging import StepKind
from schemas.outcome import CONFIDENCE_MEANING, Confidence, confidence_by_evidence
from schemas.text.patterns import IGNORECASE, bounded
from tasks.committee.steps.prompt_inputs import FindingShown, KnowledgeShown, PartShown
from tasks.judging.reply_fields import Key, Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step, no_baseline
from tasks.judging.suggestions import ProposedSuggestions
from tasks.text.quotations import passages
from tasks.text.words import has_numbers, overlap_0_to_1, words


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
    """Return the confidence.

    Returns None if missing or off the scale, which keeps the score valid.
    """
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


_MOST_QUOTATIONS = 2
_STRONG_RELEVANCE = 0.7
"""Relevance from which a finding counts as strong evidence."""
_BY_THE_TEXT = 2
_PRIOR = 0.5
_COMFORTABLE_WORDS, _LONG_WORDS = 24, 60
_TESTING = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
_PURPOSE = (IdeaPart.MOTIVATIONS, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.EXPECTED_RESULTS)
_CORE = (IdeaPart.TLDR, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.METHODS)
_DEMANDING = bounded(
    r"\b(?:large[- ]scale|massive|thousands of"
    r" (?:gpus?|participants|patients|samples)|billions?|years of|clinical trial|satellites?"
    r"|telescope|from scratch|nationwide|global(?:ly)?|real[- ]time|quantum|exascale"
    r"|longitudinal|proprietary|unprecedented|human[- ]level)\b",
    IGNORECASE,
)
_WIDE = bounded(
    r"\b(?:general(?:ly|i[sz]\w*+)?|across|fundamental|widely|society|patients|safety|climate"
    r"|health|education|communit\w++|any|every|universal|critical"
    r"|million|billion|policy|scal(?:e|able|ing)|practice|real[- ]world)\b",
    IGNORECASE,
)
_NAME_LIKE = bounded(r"[A-Z]{2}|[a-z][A-Z]|-")


@dataclass(frozen=True, slots=True)
class _Finding:
    """A finding with the key and the kind of its source."""

    key: str
    kind: str
    finding: FindingShown

    @property
    def relevance(self) -> float:
        return self.finding.relevance_0_to_1


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
    parts = judgement.parts
    lines: dict[str, dict[str, None]] = {Relation.SUPPORTS: {}, Relation.REFUTES: {}}
    relevance: dict[str, float] = {}
    for each in _findings(inputs, parts):
        relevance[each.key] = max(relevance.get(each.key, 0.0), each.relevance)
        if each.finding.evidence and each.finding.relation in lines:
            quotation = passages([(each.finding.evidence, each.key)])
            part = each.finding.part
            name = "gist" if part == IdeaPart.TLDR else part.replace("_", " ")
            lines[each.finding.relation][f"{each.finding.relation} {name}: {quotation}"] = None
    strong_count = sum(value >= _STRONG_RELEVANCE for value in relevance.values())
    quotations = (line for each in lines.values() for line in list(each)[:_MOST_QUOTATIONS])
    return DimensionReview(
        dimension=dimension.name,
        review="\n\n".join((judgement.summary, *quotations)),
        score=round(10 * judgement.share, 1),
        # Without parts the text is the evidence.
        confidence=confidence_by_evidence(strong=strong_count, fair=len(relevance) - strong_count)
        if parts
        else _BY_THE_TEXT,
    )


def _findings(
    inputs: PersonaInput, parts: Collection[IdeaPart] = tuple(IdeaPart)
) -> list[_Finding]:
    """Return the findings on `parts`, most relevant first."""
    part_names = {part.value for part in parts}
    matching = [
        _Finding(item.key, item.kind, finding)
        for item in inputs.evidence
        for finding in item.findings
        if finding.part in part_names
    ]
    return sorted(matching, key=lambda each: -each.relevance)


def _support_share(items: Collection[_Finding]) -> float:
    """Return supporting relevance over supporting and refuting, shrunk towards a half."""
    supporting_relevance, refuting_relevance = (
        sum(each.relevance for each in items if each.finding.relation == relation)
        for relation in (Relation.SUPPORTS, Relation.REFUTES)
    )
    return (supporting_relevance + _PRIOR) / (
        supporting_relevance + refuting_relevance + 2 * _PRIOR
    )


def _claims_of(inputs: PersonaInput, part: IdeaPart) -> tuple[str, ...]:
    return next((entry.claims for entry in inputs.parts if entry.part == part.value), ())


def _clarity(inputs: PersonaInput) -> _Judgement:
    claims = [claim for part in inputs.parts for claim in part.claims]
    complete = sum(bool(part.claims) for part in inputs.parts) / len(IdeaPart)
    concrete_count = sum(
        has_numbers(claim) or any(_NAME_LIKE.search(word) for word in claim.split()[1:])
        for claim in claims
    )
    concrete = concrete_count / len(claims) if claims else 0.0
    # 1 for claims of a moderate mean length, falling to 0 for long ones.
    mean = sum(len(words(claim)) for claim in claims) / len(claims) if claims else _LONG_WORDS
    readable = 1 - (mean - _COMFORTABLE_WORDS) / (_LONG_WORDS - _COMFORTABLE_WORDS)
    readable = min(max(readable, 0.0), 1.0)
    summary = (
        f"Parts stated: {round(6 * complete)} of 6; claims with a figure, name or term:"
        f" {concrete:.0%}; readability: {readable:.0%}"
    )
    return _Judgement(0.5 * complete + 0.3 * concrete + 0.2 * readable, summary, ())


def _novelty(inputs: PersonaInput) -> _Judgement:
    relevance_by_part: dict[str, float] = {}
    for each in _findings(inputs, _CORE):
        relevance_by_part.setdefault(each.finding.part, each.relevance)
    total = sum(relevance_by_part.values())
    closeness = total / len(relevance_by_part) if relevance_by_part else 0.0
    return _Judgement(1 - closeness, f"Closeness of the nearest knowledge: {closeness:.0%}", _CORE)


def _feasibility(inputs: PersonaInput) -> _Judgement:
    test_findings = _findings(inputs, _TESTING)
    stated_parts = sum(bool(_claims_of(inputs, part)) for part in _TESTING)
    support = _support_share(test_findings)
    has_code = any(each.kind == "code" for each in test_findings)
    demands = {match.lower() for match in _DEMANDING.findall(inputs.idea)}
    ease = 1 / (1 + 0.5 * len(demands))
    summary = (
        f"Methods and settings stated: {stated_parts} of 2; support among findings: {support:.0%};"
        f" code found: {'yes' if has_code else 'no'}; ease by the resources named: {ease:.0%}"
    )
    share = 0.35 * stated_parts / 2 + 0.35 * support + 0.25 * ease + 0.05 * has_code
    return _Judgement(share, summary, _TESTING)


def _validity(inputs: PersonaInput) -> _Judgement:
    findings = _findings(inputs)
    support = _support_share(findings)
    states_test = bool(_claims_of(inputs, IdeaPart.EXPERIMENTAL_SETTINGS))
    relations = [each.finding.relation for each in findings]
    summary = (
        f"Findings for: {relations.count(Relation.SUPPORTS)}; against:"
        f" {relations.count(Relation.REFUTES)}; test stated: {'yes' if states_test else 'no'}"
    )
    return _Judgement(0.8 * support + 0.2 * states_test, summary)


def _significance(inputs: PersonaInput) -> _Judgement:
    findings = _findings(inputs, _PURPOSE)
    support = _support_share(findings)
    results = _claims_of(inputs, IdeaPart.EXPECTED_RESULTS)
    text = " ".join((*_claims_of(inputs, IdeaPart.MOTIVATIONS), *results, inputs.idea[:300]))
    reach = min(len({match.lower() for match in _WIDE.findall(text)}) / 5, 1.0)
    items = len({each.key for each in findings})
    summary = (
        f"Items on its purpose: {items}; support among them: {support:.0%}; words of wide reach:"
        f" {reach:.0%}"
    )
    return _Judgement(0.4 * support + 0.3 * min(items / 6, 1.0) + 0.3 * reach, summary, _PURPOSE)


def _other(inputs: PersonaInput, dimension: DimensionShown) -> _Judgement:
    support = _support_share(_findings(inputs))
    criterion = f"{dimension.name.replace('_', ' ')} {dimension.question}"
    shared_words = overlap_0_to_1(criterion, inputs.idea)
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
    """Read decisions such as `reject.`, `SPOTLIGHT` and `Accept (Poster)`.

    Others are left to validation.
    """
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
    means = ", ".join(
        f"{figure.name.replace('_', ' ')} {figure.mean:.1f}" for figure in ranked_figures
    )
    return MetaReply(
        summary=(
            f"Baseline total: {inputs.total_score_0_to_10:.1f} of 10; means: {means}; reviews"
            f" scored: {len(inputs.reviews)}; not scored: {inputs.unscored_count}"
        ),
        strengths=_voices(inputs, ranked_figures[:_VOICES], sign=-1),
        weaknesses=_voices(inputs, ranked_figures[::-1][:_VOICES], sign=1),
        decision=decision_by_total(inputs.total_score_0_to_10),
    )


def decision_by_total(total_score_0_to_10: float) -> Decision:
    return next(
        (decision for threshold, decision in THRESHOLDS if total_score_0_to_10 >= threshold),
        Decision.REJECT,
    )


def _voices(inputs: MetaInput, figures: list[DimensionFigures], *, sign: int) -> str:
    """Return the lowest scoring review of each dimension; with a sign of -1 the highest."""
    chosen_reviews = (
        min(
            (each for each in inputs.reviews if each.dimension == figure.name),
            key=lambda each: (sign * each.score_0_to_10, each.reviewer),
        )
        for figure in figures
    )
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
