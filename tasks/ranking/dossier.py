"""Dossiers: the content shown of an idea in its matches, from its published evaluation.

User metadata is never included.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import IdeaId, PaperId, content_hash
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judgement.calibration import Prior
from schemas.judgement.soundness import deciding
from schemas.literature.paper import Paper
from schemas.run import Module
from tasks.calibration.calibrator_files import prior_log_odds
from tasks.calibration.examples import evidence_features
from warehouse.row_models import IdeaReview


class Bearing(StrEnum):
    """Bearing of a paper on the idea."""

    FOR = "for"
    AGAINST = "against"
    NEITHER = "neither"


class ModuleScore(Noun):
    """Score of one module for the idea."""

    module: str = Field(min_length=1)
    score_0_to_10: float | None = Field(
        ge=0, le=10, description="None when unscored: never a zero."
    )
    unscored_share_0_to_1: float = Field(
        default=0.0, ge=0, le=1, description="Share of the module's judgements that have no score."
    )


class DossierEvidence(Noun):
    """One paper and its text about the idea."""

    paper: Paper
    text: str = Field(min_length=1)
    bearing: Bearing = Bearing.NEITHER


class Dossier(Noun):
    """One idea with the results of its evaluation.

    Texts are Markdown; rendered citations of evidence papers become keys in prompts.
    """

    idea_id: IdeaId
    group: str | None = Field(
        default=None, description="None: not given; to be found by clustering."
    )
    title: str = ""
    text: str = Field(min_length=1, description="The whole idea, or a summary of it.")
    summary: str = Field(default="", description="What the committee came to; empty without one.")
    claims: tuple[str, ...] = Field(
        default=(), description="Atomic claims of the idea, in order of its parts."
    )
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    module_scores: tuple[ModuleScore, ...] = ()
    dimension_means: dict[str, float] = Field(
        default_factory=dict, description="Committee means, 0 to 10; unscored dimensions absent."
    )
    evidence: tuple[DossierEvidence, ...] = Field(default=(), description="Most telling first.")
    prior_log_odds: float | None = Field(
        default=None, description="By the profile's prior; shown to nobody. None: not known."
    )

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all shown content; excludes the group and the prior."""
        return content_hash(self.model_dump_json(exclude={"group", "prior_log_odds"}), length=32)


EVIDENCE_SHOWN = 6
"""Papers per idea, most cited in its reviews first: enough to decide a match, while two ideas still
fit one prompt.
"""
TEXTS_SHOWN = 5

_BEARINGS = {
    "support": Bearing.FOR,
    "strengths": Bearing.FOR,
    "contradictions": Bearing.AGAINST,
    "weaknesses": Bearing.AGAINST,
}


def dossier_of(review: IdeaReview, group: str | None, prior: Prior | None = None) -> Dossier:
    """Build the dossier of one idea within `group`, with the log odds expected by `prior`."""
    idea, committee = review.evaluation.idea, review.evaluation.committee
    meta = committee.meta_review if committee is not None else None
    return Dossier(
        idea_id=idea.idea_id,
        group=group,
        title=idea.title,
        text=idea.english_text,
        summary=meta.summary if meta is not None else "",
        claims=(
            tuple(claim.statement for claim in committee.claims) if committee is not None else ()
        ),
        strengths=_texts(review, "strengths"),
        weaknesses=_texts(review, "weaknesses"),
        module_scores=tuple(_module_scores(review)),
        dimension_means=dict(meta.dimension_means) if meta is not None else {},
        evidence=_evidence(review),
        prior_log_odds=(
            prior_log_odds(prior, evidence_features(review.evaluation), idea.text)
            if prior is not None
            else None
        ),
    )


def _texts(review: IdeaReview, field: str) -> tuple[str, ...]:
    """Return strengths or weaknesses of the committee, the methods, the plan and the contribution.

    Of the plan's concerns only the deciding ones count as weaknesses.
    """
    evaluation, committee = review.evaluation, review.evaluation.committee
    texts: list[str] = []
    if committee is not None and committee.meta_review is not None:
        texts.append(getattr(committee.meta_review, field))
    if evaluation.soundness is not None and evaluation.soundness.summary is not None:
        texts += getattr(evaluation.soundness.summary, field)
    concerns = (
        deciding(evaluation.concerns, TEXTS_SHOWN)
        if field == "weaknesses"
        else [concern for concern in evaluation.concerns if concern.severity is None]
    )
    texts += [f"{concern.point} {concern.why}" for concern in concerns]
    if evaluation.contribution is not None:
        texts += [getattr(entry, field) for entry in evaluation.contribution.reviews]
    return tuple(text.strip() for text in texts if text.strip())[:TEXTS_SHOWN]


def _module_scores(review: IdeaReview) -> Iterator[ModuleScore]:
    score, assessment = review.score, review.evaluation.assessment
    rows = assessment.assessments if assessment is not None else ()
    overall = assessment.of(AssessmentCriterion.OVERALL) if assessment is not None else None
    probability = overall.probability_0_to_1 if overall is not None else None
    shares = {
        Module.SOUNDNESS: (score.unscored_method_count, score.method_count),
        Module.CONTRIBUTION: (
            score.unscored_comparison_count,
            score.unscored_comparison_count + score.scored_comparison_count,
        ),
        Module.ASSESSMENT: (sum(row.probability_0_to_1 is None for row in rows), len(rows)),
    }
    for module in review.run.modules.split(","):
        unscored_count, total = shares.get(Module(module), (0, 0))
        value = getattr(score, f"{module}_0_to_10", None)
        if module == Module.ASSESSMENT:
            value = None if probability is None else 10 * probability
        yield ModuleScore(
            module=module,
            score_0_to_10=value,
            unscored_share_0_to_1=unscored_count / total if total else 0.0,
        )


def _evidence(review: IdeaReview) -> tuple[DossierEvidence, ...]:
    """Return the papers cited in reviews, most cited first.

    A paper cited both for and against the idea counts for neither side.
    """
    counts: dict[PaperId, int] = {}
    bearings: dict[PaperId, set[Bearing]] = {}
    for citation in review.evaluation.citations:
        if citation.paper_id is None:
            continue
        counts[citation.paper_id] = counts.get(citation.paper_id, 0) + citation.count
        if citation.field in _BEARINGS:
            bearings.setdefault(citation.paper_id, set()).add(_BEARINGS[citation.field])
    one_sided = {name: next(iter(sides)) for name, sides in bearings.items() if len(sides) == 1}
    findings = _findings_of_papers(review)
    papers = {paper.paper_id: paper for paper in review.bibliography}
    ordered_ids = sorted(
        (paper_id for paper_id in counts if paper_id in papers),
        key=lambda paper_id: (-counts[paper_id], paper_id),
    )
    texts = (
        (paper_id, findings.get(paper_id) or papers[paper_id].abstract or papers[paper_id].title)
        for paper_id in ordered_ids
    )
    return tuple(
        DossierEvidence(
            paper=papers[paper_id],
            text=text,
            bearing=one_sided.get(paper_id, Bearing.NEITHER),
        )
        for paper_id, text in texts
        if text
    )[:EVIDENCE_SHOWN]


def _findings_of_papers(review: IdeaReview) -> dict[PaperId, str]:
    """Return the findings on each paper: results for a method, else the comparison."""
    findings: dict[PaperId, str] = {}
    soundness, contribution = review.evaluation.soundness, review.evaluation.contribution
    for entry in contribution.comparisons if contribution is not None else ():
        if entry.overall_comparison.strip():
            findings[entry.paper_id] = entry.overall_comparison.strip()
    for evidence in soundness.evidence if soundness is not None else ():
        if evidence.relevant and evidence.results.strip():
            findings[evidence.paper_id] = evidence.results.strip()
    return findings
