"""A dossier from a published evaluation: scores, strengths and weaknesses, and the papers they rest
on.

Never the user's metadata.
"""

from collections.abc import Iterator

from schemas.committee import CommitteeEvaluation
from schemas.identifiers import PaperId
from schemas.run import Module
from schemas.soundness import ConcernSeverity
from tasks.ranking.dossier import Bearing, Dossier, DossierEvidence, ModuleScore
from warehouse.answers import IdeaReview

EVIDENCE_SHOWN = 6
"""Papers per idea, most cited in its reviews first: enough to decide a match, few enough for two
ideas in one prompt.
"""
TEXTS_SHOWN = 5

_BEARINGS = {
    "support": Bearing.FOR,
    "strengths": Bearing.FOR,
    "contradictions": Bearing.AGAINST,
    "weaknesses": Bearing.AGAINST,
}


def dossier_of(review: IdeaReview, group: str | None) -> Dossier:
    """What an engine is shown of one idea in its matches within `group`."""
    idea, committee = review.evaluation.idea, _committee(review)
    meta = committee.meta_review if committee is not None else None
    return Dossier(
        idea_id=idea.idea_id,
        group=group,
        title=idea.title,
        text=idea.text,
        summary=meta.summary if meta is not None else "",
        claims=(
            tuple(claim.statement for claim in committee.claims) if committee is not None else ()
        ),
        strengths=_texts(review, "strengths"),
        weaknesses=_texts(review, "weaknesses"),
        module_scores=tuple(_module_scores(review)),
        dimension_means=dict(meta.dimension_means) if meta is not None else {},
        evidence=_evidence(review),
    )


def _committee(review: IdeaReview) -> CommitteeEvaluation | None:
    found: CommitteeEvaluation | None = getattr(review.evaluation, "committee", None)
    return found


def _texts(review: IdeaReview, field: str) -> tuple[str, ...]:
    """Strengths or weaknesses by the committee, over the methods, of the plan, and along the dimensions of the
    contribution, in this order. Of the plan's concerns the fatal ones count."""
    evaluation, committee = review.evaluation, _committee(review)
    found: list[str] = []
    if committee is not None and committee.meta_review is not None:
        found.append(getattr(committee.meta_review, field))
    if evaluation.soundness is not None and evaluation.soundness.summary is not None:
        found += getattr(evaluation.soundness.summary, field)
    if evaluation.soundness is not None and field == "weaknesses":
        found += [
            f"{concern.point} {concern.why}"
            for concern in evaluation.soundness.concerns
            if concern.severity is ConcernSeverity.FATAL
        ]
    if evaluation.contribution is not None:
        found += [getattr(entry, field) for entry in evaluation.contribution.reviews]
    return tuple(text.strip() for text in found if text.strip())[:TEXTS_SHOWN]


def _module_scores(review: IdeaReview) -> Iterator[ModuleScore]:
    score = review.score
    shares = {
        Module.SOUNDNESS: (score.unscored_method_count, score.method_count),
        Module.CONTRIBUTION: (
            score.unscored_comparison_count,
            score.unscored_comparison_count + score.scored_comparison_count,
        ),
    }
    for module in review.run.modules.split(","):
        unscored, judged = shares.get(Module(module), (0, 0))
        yield ModuleScore(
            module=module,
            score_0_to_10=getattr(score, f"{module}_0_to_10", None),
            unscored_share_0_to_1=unscored / judged if judged else 0.0,
        )


def _evidence(review: IdeaReview) -> tuple[DossierEvidence, ...]:
    """The papers the reviews cite, most often cited first; a paper cited for and against bears on
    neither side.
    """
    cited: dict[PaperId, int] = {}
    bearings: dict[PaperId, set[Bearing]] = {}
    for citation in review.evaluation.citations:
        if citation.paper_id is None:
            continue
        cited[citation.paper_id] = cited.get(citation.paper_id, 0) + citation.count
        if citation.field in _BEARINGS:
            bearings.setdefault(citation.paper_id, set()).add(_BEARINGS[citation.field])
    said = _said(review)
    papers = {paper.paper_id: paper for paper in review.bibliography}
    ordered = sorted(
        (paper_id for paper_id in cited if paper_id in papers),
        key=lambda paper_id: (-cited[paper_id], paper_id),
    )
    shown = (
        (paper_id, said.get(paper_id) or papers[paper_id].abstract or papers[paper_id].title)
        for paper_id in ordered
    )
    return tuple(
        DossierEvidence(
            paper=papers[paper_id], text=text, bearing=_bearing(bearings.get(paper_id, set()))
        )
        for paper_id, text in shown
        if text
    )[:EVIDENCE_SHOWN]


def _bearing(found: set[Bearing]) -> Bearing:
    return found.pop() if len(found) == 1 else Bearing.NEITHER


def _said(review: IdeaReview) -> dict[PaperId, str]:
    """What was made of each paper when it was read: its results for a method, else how the idea
    compares.
    """
    found: dict[PaperId, str] = {}
    soundness, contribution = review.evaluation.soundness, review.evaluation.contribution
    for entry in contribution.comparisons if contribution is not None else ():
        if entry.overall_comparison.strip():
            found[entry.paper_id] = entry.overall_comparison.strip()
    for evidence in soundness.evidence if soundness is not None else ():
        if evidence.relevant and evidence.results.strip():
            found[evidence.paper_id] = evidence.results.strip()
    return found
