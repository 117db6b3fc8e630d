"""Evaluation of one idea by a committee: structure, knowledge, reviews, meta-review (InnoEval)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.idea import Idea
from schemas.judgement.committee import (
    Claim,
    CommitteeEvaluation,
    IdeaPart,
    KnowledgePhase,
    MetaReview,
    Persona,
    PersonaReview,
    ReviewDimension,
)
from schemas.outcome import Scored, Unscored, confidence_of_all
from schemas.profile import CommitteeParameters
from schemas.reasons import Reason
from tasks.citations.references import rekeyed
from tasks.committee.evidence_display import (
    Library,
    citations_of,
    display_evidence,
    relevant_evidence,
    without_references,
)
from tasks.committee.knowledge.context import STAGE
from tasks.committee.knowledge.gather import gather_knowledge
from tasks.committee.knowledge.tools import LITERATURE, KnowledgeTools
from tasks.committee.reviewing import (
    Case,
    PersonaReviewResult,
    draw_personas,
    nearest_personas,
    review_case,
)
from tasks.committee.steps.prompt_inputs import PartShown
from tasks.committee.steps.reviews import (
    LATER_SUGGESTIONS,
    META_REVIEW,
    DimensionFigures,
    LaterInput,
    MetaInput,
    ReviewShown,
)
from tasks.committee.steps.structure_idea import STRUCTURE_IDEA, StructureInput
from tasks.judging.findings import CitedResult, Findings, all_cited_papers, settle_texts
from tasks.judging.step import Engine, unasked_provenance
from tasks.judging.suggestions import settle_suggestions
from tasks.metrics.agreement import krippendorff_alpha
from tasks.personas.roster import load_roster

ESSENTIAL = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
"""Parts whose absence is a failure; other absent parts only have no claims."""


@dataclass(frozen=True, slots=True)
class StructuredIdea:
    """Atomic claims of an idea's six parts, in order.

    `unscored` is the reason if there are none.
    """

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    unscored: Unscored | None = None

    @property
    def parts(self) -> tuple[PartShown, ...]:
        """All six parts, missing ones without claims."""
        return tuple(
            PartShown(
                part=part.value,
                claims=tuple(claim.statement for claim in self.claims if claim.part is part),
            )
            for part in IdeaPart
        )


async def structure_idea(idea: Idea, engine: Engine) -> StructuredIdea:
    """Ask for the claims of the idea's parts (InnoEval, "Overall Architecture").

    A missing method or test is recorded as a failure.
    """
    outcome = await engine.run(STRUCTURE_IDEA, StructureInput(idea=idea.text))
    if isinstance(outcome, Unscored):
        return StructuredIdea((), call_failures([outcome], STAGE, STRUCTURE_IDEA.name), outcome)
    claims_by_part = outcome.value.claims()
    pairs = [
        (part, statement) for part, statements in claims_by_part.items() for statement in statements
    ]
    if not pairs:
        unscored = Unscored(
            Reason.NOTHING_TO_JUDGE, "the reply finds no claim in the idea", outcome.provenance
        )
        return StructuredIdea((), (_missing(idea, list(IdeaPart)),), unscored)
    claims = tuple(
        Claim(claim_id=f"c{number}", part=part, statement=statement, provenance=outcome.provenance)
        for number, (part, statement) in enumerate(pairs, start=1)
    )
    absent = [part for part in ESSENTIAL if not claims_by_part[part]]
    return StructuredIdea(claims, (_missing(idea, absent),) if absent else ())


def _missing(idea: Idea, parts: list[IdeaPart]) -> Failure:
    names = ", ".join(part.value.replace("_", " ") for part in parts)
    detail = f"the idea does not have: {names}; it was judged without"
    return Failure(stage=STAGE, subject=idea.idea_id, reason=Reason.NOTHING_TO_JUDGE, detail=detail)


async def evaluate_committee(
    idea: Idea,
    parameters: CommitteeParameters,
    seed: int,
    engine: Engine,
    tools: KnowledgeTools,
    *,
    with_literature: bool = True,
) -> Findings[CommitteeEvaluation]:
    """Review `idea`, with or without literature.

    The result does not depend on timing; equal seeds draw equal personas and masks. Failures of
    sources, pages and the engine are unscored rows or failures in the result.

    Raises:
        ConfigurationError: a personas file with a mistake, or fewer personas than are to be drawn.
    """
    roster = load_roster(parameters.personas_file)
    field, count = parameters.panel_field, parameters.persona_count
    near_personas: Sequence[Persona] = ()
    if field is not None:
        near_personas = await nearest_personas(roster.personas, count // 2, field, tools.embedder)
    panel = draw_personas(
        roster.personas,
        count,
        seed,
        idea.idea_id,
        same_panel=parameters.same_panel,
        near=near_personas,
    )
    structured_idea = await structure_idea(idea, engine)
    if structured_idea.unscored is not None:
        detail = f"the idea could not be taken apart: {structured_idea.unscored.detail}"
        unscored = dataclasses.replace(structured_idea.unscored, detail=detail)
        evaluation = CommitteeEvaluation(
            claims=(),
            knowledge=(),
            evidence=(),
            reviews=(),
            meta_review=no_committee(unscored),
            failures=structured_idea.failures,
        )
        return Findings(evaluation)
    search_parameters = parameters
    if not with_literature:
        other_sources = tuple(name for name in parameters.sources if name != LITERATURE)
        search_parameters = replace(parameters, sources=other_sources)
    knowledge = await gather_knowledge(
        idea, structured_idea.claims, search_parameters, engine, tools
    )
    case = Case(
        idea=idea,
        parts=structured_idea.parts,
        knowledge=knowledge,
        library=Library.of(knowledge.records, knowledge.papers),
        field_not_covered=search_parameters.sources != parameters.sources,
    )
    reviews = await review_case(
        case, panel, roster.dimensions, parameters.dimensions_per_call, engine
    )
    meta_review = await conclude(case, reviews, roster.dimensions, engine)
    evaluation = CommitteeEvaluation(
        claims=structured_idea.claims,
        knowledge=knowledge.records,
        evidence=knowledge.evidence,
        reviews=tuple(each.value for each in reviews),
        meta_review=meta_review.value,
        failures=(*structured_idea.failures, *knowledge.failures, *meta_review.failures),
    )
    citations = (row for each in reviews for row in each.citations)
    return Findings(
        evaluation,
        knowledge.papers,
        (*citations, *meta_review.citations),
        meta_review.suggestions,
    )


SUBJECT = "meta_review"
_NO_INTERVAL_RESAMPLES = 2


@dataclass(frozen=True, slots=True)
class Figures:
    """Statistics of the scored reviews; the fields are columns of `MetaReview`.

    Attributes:
        total_score_0_to_10: mean over personas and dimensions; None without a scored review.
        dimension_spreads: standard deviation over at least two personas.
        krippendorff_alpha: interval scale; units are dimensions, raters are personas. None if
            undefined or fewer than two dimensions have two scores: for a single unit it is always 0.
        confidence_0_to_3: over all reviews; None without a scored one.
    """

    total_score_0_to_10: float | None
    dimension_means: dict[str, float]
    dimension_spreads: dict[str, float]
    krippendorff_alpha: float | None
    confidence_0_to_3: int | None
    scored_review_count: int
    unscored_review_count: int


def figures_of(reviews: Sequence[PersonaReview], dimensions: Sequence[ReviewDimension]) -> Figures:
    rows = {
        each.name: [row.score_0_to_10 for row in reviews if row.dimension == each.name]
        for each in dimensions
    }
    scores = {name: [one for one in row if one is not None] for name, row in rows.items()}
    all_scores = [score for row in scores.values() for score in row]
    alpha = krippendorff_alpha(list(rows.values()), "interval", resamples=_NO_INTERVAL_RESAMPLES)
    confidences = (each.confidence_0_to_3 for each in reviews)
    return Figures(
        total_score_0_to_10=fmean(all_scores) if all_scores else None,
        dimension_means={name: fmean(row) for name, row in scores.items() if row},
        dimension_spreads={name: stdev(row) for name, row in scores.items() if len(row) > 1},
        krippendorff_alpha=alpha.value if alpha.defined and alpha.count > 1 else None,
        confidence_0_to_3=confidence_of_all(confidences) if all_scores else None,
        scored_review_count=len(all_scores),
        unscored_review_count=len(reviews) - len(all_scores),
    )


async def conclude(
    case: Case,
    reviews: Sequence[PersonaReviewResult],
    dimensions: Sequence[ReviewDimension],
    engine: Engine,
) -> CitedResult[MetaReview]:
    """Ask for the meta-review, by earlier knowledge, and for suggestions from later knowledge."""
    figures = figures_of([each.value for each in reviews], dimensions)
    if figures.total_score_0_to_10 is None:
        reasons = [each.value.unscored_reason or Reason.NOTHING_TO_JUDGE for each in reviews]
        reason = max(dict.fromkeys(reasons), key=reasons.count, default=Reason.NOTHING_TO_JUDGE)
        detail = (
            f"none of {len(reviews)} reviews has a score; {reasons.count(reason)} for this reason"
        )
        unscored = Unscored(reason, detail, unasked_provenance(META_REVIEW, engine))
        return CitedResult(_unscored(figures, unscored))
    prompt_papers = all_cited_papers(reviews)
    scored_reviews = [
        (each, each.value.score_0_to_10) for each in reviews if each.value.score_0_to_10 is not None
    ]
    judged_dimensions = [each.value.dimension for each, _ in scored_reviews]
    question = MetaInput(
        idea=case.idea.text,
        total_score_0_to_10=figures.total_score_0_to_10,
        figures=tuple(
            DimensionFigures(
                name=name,
                mean=mean,
                spread=figures.dimension_spreads.get(name),
                scored_count=judged_dimensions.count(name),
            )
            for name, mean in figures.dimension_means.items()
        ),
        unscored_count=figures.unscored_review_count,
        reviews=tuple(
            ReviewShown(
                reviewer=each.reviewer,
                dimension=each.value.dimension,
                score_0_to_10=score,
                confidence_0_to_3=each.value.confidence_0_to_3,
                review=rekeyed(each.value.review, each.prompt_papers, prompt_papers),
            )
            for each, score in scored_reviews
        ),
    )
    outcome = await engine.run(META_REVIEW, question)
    if isinstance(outcome, Scored) and not outcome.value.summary.strip():
        detail = "the reply decides without saying why"
        outcome = Unscored(Reason.REPLY_EMPTY, detail, outcome.provenance)
    if isinstance(outcome, Unscored):
        result = CitedResult(_unscored(figures, outcome))
    else:
        texts = settle_texts(outcome.value, ("summary", "strengths", "weaknesses"), prompt_papers)
        meta_review = MetaReview(
            decision=outcome.value.decision,
            **asdict(figures),
            **texts.columns,
            provenance=outcome.provenance,
        )
        citations = (
            row
            for field, text in texts.by_field.items()
            for row in citations_of(text, prompt_papers, case.library, subject=SUBJECT, field=field)
        )
        result = CitedResult(meta_review, prompt_papers, tuple(citations))
    weaknesses = without_references(result.value.weaknesses, prompt_papers)
    return await _with_suggestions(case, result, weaknesses, engine)


def no_committee(why: Unscored) -> MetaReview:
    return _unscored(Figures(None, {}, {}, None, None, 0, 0), why)


def _unscored(figures: Figures, unscored: Unscored) -> MetaReview:
    """Return a meta-review without a decision.

    The total is computed from the scores if any.
    """
    return MetaReview(decision=None, **asdict(figures), **unscored.columns)


async def _with_suggestions(
    case: Case, result: CitedResult[MetaReview], weaknesses: str, engine: Engine
) -> CitedResult[MetaReview]:
    """Add suggestions from later knowledge, if there is any."""
    evidence = display_evidence(
        relevant_evidence(case.knowledge.evidence, KnowledgePhase.AFTER), case.library
    )
    if not evidence.items:
        return result
    outcome = await engine.run(
        LATER_SUGGESTIONS,
        LaterInput(idea=case.idea.text, weaknesses=weaknesses, knowledge=evidence.items),
    )
    if isinstance(outcome, Unscored):
        if outcome.reason is Reason.OFFLINE_ENGINE:
            return result
        failures = call_failures([outcome], STAGE, LATER_SUGGESTIONS.name)
        return dataclasses.replace(result, failures=failures)
    suggestions = settle_suggestions(
        outcome.value.suggestions,
        evidence.prompt_papers,
        module=STAGE,
        subject=SUBJECT,
        provenance=outcome.provenance,
    )
    text, meta_review = suggestions.text, result.value
    citations = citations_of(
        text, evidence.prompt_papers, case.library, subject=SUBJECT, field="suggestions"
    )
    return dataclasses.replace(
        result,
        value=replace(
            meta_review,
            suggestions=text.markdown,
            removed_citation_count=meta_review.removed_citation_count + text.removed_citation_count,
            uncited_sentence_count=meta_review.uncited_sentence_count + text.uncited_sentence_count,
        ),
        citations=(*result.citations, *citations),
        suggestions=suggestions.rows,
        failures=suggestions.failures,
    )
