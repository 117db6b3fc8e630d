"""What committee and novelty find about an idea: sound in every respect,
tests break it from there.
"""

import random
from collections.abc import Iterator
from datetime import date
from statistics import fmean

from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.judgement.committee import (
    Claim,
    CommitteeEvaluation,
    Decision,
    GroundedEvidence,
    IdeaPart,
    KnowledgePhase,
    KnowledgeRecord,
    MetaReview,
    PersonaReview,
    Relation,
)
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.novelty import (
    ClaimedContribution,
    Difference,
    NoveltyEvaluation,
    NoveltyJudgement,
    WorkOverlap,
)
from schemas.judging import JudgeVote
from schemas.literature.citation import Citation
from schemas.literature.knowledge import SourceKind
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from tests.support.evaluations import (
    CUTOFF,
    make_evaluation,
    make_judge_votes,
    make_provenance,
    prose,
)

DIMENSIONS = ("clarity", "novelty")
PERSONAS = ("ada", "bo")


def make_committee(number: int, papers: tuple[Paper, ...]) -> CommitteeEvaluation:
    """Two personas, two dimensions, the last review unscored; a paper, a page and something later
    are known.
    """
    generator = random.Random(f"committee {number}")
    reviews = tuple(
        _persona_review(
            generator,
            persona,
            dimension,
            unscored=(persona, dimension) == (PERSONAS[-1], DIMENSIONS[-1]),
        )
        for persona in PERSONAS
        for dimension in DIMENSIONS
    )
    dated = next(paper for paper in papers if paper.publication_date is not None)
    return CommitteeEvaluation(
        claims=tuple(
            Claim(
                claim_id=f"c{n + 1}",
                part=part,
                statement=prose(generator, 12),
                provenance=make_provenance("structure_idea", n),
            )
            for n, part in enumerate((IdeaPart.TLDR, IdeaPart.METHODS))
        ),
        knowledge=(
            _record(
                "k1",
                SourceKind.PAPERS,
                KnowledgePhase.BEFORE,
                dated.publication_date,
                dated.paper_id,
            ),
            _record("k2", SourceKind.WEB, KnowledgePhase.BEFORE, date(2025, 1, 1), None),
            _record("k3", SourceKind.CODE, KnowledgePhase.AFTER, CUTOFF.replace(year=2026), None),
        ),
        evidence=tuple(
            _evidence(generator, n, knowledge, phase)
            for n, (knowledge, phase) in enumerate(_GROUNDED)
        ),
        reviews=reviews,
        meta_review=_meta_review(generator, reviews),
        failures=(),
    )


_GROUNDED = (
    ("k1", KnowledgePhase.BEFORE),
    ("k2", KnowledgePhase.BEFORE),
    ("k3", KnowledgePhase.AFTER),
)


def _record(
    name: str,
    kind: SourceKind,
    phase: KnowledgePhase,
    published: date | None,
    paper_id: PaperId | None,
) -> KnowledgeRecord:
    return KnowledgeRecord(
        knowledge_id=name,
        kind=kind,
        source="literature" if paper_id else "web",
        phase=phase,
        part=IdeaPart.METHODS,
        query="sparse attention",
        round=1,
        title=f"Item {name}",
        url=f"https://example.org/{name}",
        published=published,
        paper_id=paper_id,
        text="What the source says.",
        semantic_similarity_0_to_1=0.5,
        judge_score_0_to_1=0.25,
        score_0_to_1=0.45,
        selected=True,
        provenance=make_provenance("judge_credibility"),
    )


def _evidence(
    generator: random.Random, n: int, knowledge_id: str, phase: KnowledgePhase
) -> GroundedEvidence:
    return GroundedEvidence(
        evidence_id=f"e{n + 1}",
        part=IdeaPart.METHODS,
        knowledge_id=knowledge_id,
        phase=phase,
        relation=Relation.SUPPORTS if n % 2 else Relation.REFUTES,
        evidence=prose(generator, 15),
        analysis=prose(generator, 10),
        relevance_0_to_1=0.75,
        passage="What the source says.",
        passage_verified=True,
        provenance=make_provenance("ground_evidence", n),
    )


def _persona_review(
    generator: random.Random, persona: str, dimension: str, *, unscored: bool
) -> PersonaReview:
    return PersonaReview(
        persona_id=persona,
        dimension=dimension,
        score_0_to_10=None if unscored else float(generator.randint(0, 10)),
        confidence_0_to_3=None if unscored else 1,
        review="" if unscored else prose(generator, 30),
        shown_evidence_count=2,
        masked_evidence_count=0,
        mask_seed=generator.randrange(2**32),
        unscored_reason=Reason.REFUSED if unscored else None,
        unscored_detail="the model declined" if unscored else "",
        provenance=make_provenance("persona_review", PERSONAS.index(persona)),
    )


def _meta_review(generator: random.Random, reviews: tuple[PersonaReview, ...]) -> MetaReview:
    scored = [review for review in reviews if review.score_0_to_10 is not None]
    means = {
        dimension: fmean(
            review.score_0_to_10 or 0.0 for review in scored if review.dimension == dimension
        )
        for dimension in DIMENSIONS
    }
    return MetaReview(
        total_score_0_to_10=fmean(review.score_0_to_10 or 0.0 for review in scored),
        confidence_0_to_3=1,
        decision=Decision.POSTER,
        summary=prose(generator, 40),
        strengths=prose(generator, 20),
        weaknesses=prose(generator, 20),
        suggestions=prose(generator, 20),
        dimension_means=means,
        dimension_spreads=dict.fromkeys(DIMENSIONS, 0.5),
        krippendorff_alpha=0.25,
        scored_review_count=len(scored),
        unscored_review_count=len(reviews) - len(scored),
        provenance=make_provenance("meta_review"),
    )


def committee_citations(papers: tuple[Paper, ...]) -> tuple[Citation, ...]:
    """A paper cited by a persona, a page by another, and what came later by the suggestions."""
    dated = next(paper for paper in papers if paper.publication_date is not None)
    return (
        Citation(
            paper_id=dated.paper_id,
            knowledge_id="k1",
            citation_key="P1",
            module="committee",
            subject="ada clarity",
            field="review",
            count=1,
        ),
        Citation(
            paper_id=None,
            knowledge_id="k2",
            citation_key="P2",
            module="committee",
            subject="bo clarity",
            field="review",
            count=2,
        ),
        Citation(
            paper_id=None,
            knowledge_id="k3",
            citation_key="P1",
            module="committee",
            subject="meta_review",
            field="suggestions",
            count=1,
        ),
    )


def make_novelty(number: int, papers: tuple[Paper, ...]) -> NoveltyEvaluation:
    generator = random.Random(f"novelty {number}")
    return NoveltyEvaluation(
        judgement=NoveltyJudgement(
            score_1_to_5=3,
            probabilities_percent={"1": 5, "2": 20, "3": 45, "4": 25, "5": 5},
            confidence_0_to_3=1,
            justification=prose(generator, 30),
            known_aspects=(prose(generator, 6),),
            novel_aspects=(prose(generator, 6), prose(generator, 6)),
            related_paper_ids=tuple(paper.paper_id for paper in papers[:2]),
            provenance=make_provenance("judge_novelty"),
        ),
        contributions=(
            ClaimedContribution(
                contribution=prose(generator, 8),
                paper_id=papers[0].paper_id if papers else None,
                overlap=WorkOverlap.PARTIAL,
                difference=Difference.USEFUL,
            ),
            ClaimedContribution(
                contribution=prose(generator, 8),
                paper_id=None,
                overlap=WorkOverlap.NONE,
                difference=None,
            ),
        ),
        failures=(),
    )


def make_full_evaluation(number: int = 0, *, run_id: str = "run-a") -> IdeaEvaluation:
    """One evaluation by all four modules that passes every expectation; several judges scored."""
    base = make_evaluation(number, run_id=run_id)
    evaluation = replace(
        base,
        committee=make_committee(number, base.papers),
        novelty=make_novelty(number, base.papers),
        citations=(*base.citations, *committee_citations(base.papers)),
    )
    return replace(evaluation, judge_votes=tuple(votes_of_judges(evaluation)))


def votes_of_judges(evaluation: IdeaEvaluation) -> Iterator[JudgeVote]:
    """Votes whose medians are the scores of `evaluation`; some judges gave none."""
    assert evaluation.soundness is not None
    assert evaluation.contribution is not None
    assert evaluation.committee is not None
    assert evaluation.novelty is not None
    refused = Reason.REFUSED
    for review in evaluation.soundness.reviews:
        if (score := review.score_0_to_10) is not None:
            yield from make_judge_votes(
                review.provenance, score, max(score - 1, 0.0), min(score + 1, 10.0), refused
            )
    for comparison in evaluation.contribution.comparisons:
        if comparison.score is not None:
            item = f"P1/{comparison.dimension_id}"
            yield from make_judge_votes(
                comparison.provenance, comparison.score, comparison.score, item=item
            )
    for seat in evaluation.committee.reviews:
        if (score := seat.score_0_to_10) is not None:
            yield from make_judge_votes(seat.provenance, score, score, item=seat.dimension)
    seat = evaluation.committee.reviews[0]
    yield make_judge_votes(seat.provenance, 0, 0, refused)[-1]
    yield from make_judge_votes(evaluation.novelty.judgement.provenance, 3, 2, 4)
