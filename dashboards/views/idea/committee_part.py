"""What the committee found out about one idea, as its report shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.page import Line, line, link
from dashboards.render.wording import reason, unscored
from dashboards.views.idea.judges_part import score_of_judges
from schemas.judgement.committee import (
    CommitteeEvaluation,
    GroundedEvidence,
    IdeaPart,
    KnowledgePhase,
    KnowledgeRecord,
    MetaReview,
    PersonaReview,
    Relation,
)
from schemas.judging import JudgeVote

EVIDENCE_SHOWN = 15


@dataclass(frozen=True, slots=True)
class DimensionLine:
    """One dimension over all personas; `scores` in the order of the personas."""

    name: str
    mean: str
    spread: str
    scores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewerPart:
    """One persona's reviews, and how much of the evidence it knew."""

    persona_id: str
    knowledge: str
    reviews: tuple[tuple[str, str, PersonaReview], ...]


@dataclass(frozen=True, slots=True)
class GroundLine:
    """One finding with the knowledge it comes from."""

    knowledge: Line
    part: str
    relation: str
    row: GroundedEvidence


@dataclass(frozen=True, slots=True)
class CommitteePart:
    """All that the report shows of it."""

    meta: MetaReview | None
    verdict: str
    agreement: str
    personas: tuple[str, ...]
    dimensions: tuple[DimensionLine, ...]
    reviewers: tuple[ReviewerPart, ...]
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    funnel: str
    ground: tuple[GroundLine, ...]
    unshown_count: int


def committee_part(
    committee: CommitteeEvaluation | None, votes: Sequence[JudgeVote]
) -> CommitteePart | None:
    """None when the committee was not asked for; `votes` are those of the idea."""
    if committee is None:
        return None
    telling = _telling(committee)
    personas = tuple(dict.fromkeys(review.persona_id for review in committee.reviews))
    return CommitteePart(
        meta=committee.meta_review,
        verdict=_verdict(committee.meta_review),
        agreement=_agreement(committee.meta_review),
        personas=personas,
        dimensions=_dimensions(committee, personas),
        reviewers=tuple(_reviewer(name, committee.reviews, votes) for name in personas),
        parts=tuple(
            (
                _words(part),
                tuple(claim.statement for claim in committee.claims if claim.part is part),
            )
            for part in IdeaPart
            if committee.claims
        ),
        funnel=_funnel(committee.knowledge),
        ground=tuple(_line(row, committee.knowledge) for row in telling[:EVIDENCE_SHOWN]),
        unshown_count=max(len(telling) - EVIDENCE_SHOWN, 0),
    )


def other_sources(
    committee: CommitteeEvaluation | None, knowledge_ids: Sequence[str]
) -> tuple[Line, ...]:
    """Cited pages, repositories and later papers, each once: what the bibliography of papers does
    not hold.
    """
    records = (
        {record.knowledge_id: record for record in committee.knowledge}
        if committee is not None
        else {}
    )
    cited = [records[name] for name in dict.fromkeys(knowledge_ids) if name in records]
    return tuple(
        line(_named(record), f" ({record.published.isoformat() if record.published else 'n.d.'})")
        for record in cited
    )


def _verdict(meta: MetaReview | None) -> str:
    if meta is None:
        return "unscored: no committee met"
    decision = (
        meta.decision.value
        if meta.decision is not None
        else f"no decision: {reason(meta.unscored_reason or 'unknown')}"
    )
    total = meta.total_score_0_to_10
    return f"{figures.mean(total)}{' of 10' if total is not None else ''}, {decision}"


def _agreement(meta: MetaReview | None) -> str:
    if meta is None or meta.krippendorff_alpha is None:
        return (
            "Agreement of the reviewers is undefined: fewer than two dimensions have two differing"
            " scores."
        )
    return (
        "Krippendorff's alpha of the reviewers over the dimensions:"
        f" {figures.signed(meta.krippendorff_alpha)} (1 perfect, 0 chance)."
    )


def _dimensions(
    committee: CommitteeEvaluation, personas: Sequence[str]
) -> tuple[DimensionLine, ...]:
    found = {(review.persona_id, review.dimension): review for review in committee.reviews}
    means = committee.meta_review.dimension_means if committee.meta_review is not None else {}
    spreads = committee.meta_review.dimension_spreads if committee.meta_review is not None else {}
    return tuple(
        DimensionLine(
            name=_words(name),
            mean=figures.mean(means.get(name)),
            spread=f"{spreads[name]:.2f}" if name in spreads else "–",
            scores=tuple(
                (
                    figures.score(found[persona, name].score_0_to_10)
                    if (persona, name) in found
                    else "–"
                )
                for persona in personas
            ),
        )
        for name in dict.fromkeys(review.dimension for review in committee.reviews)
    )


def _reviewer(
    persona_id: str, reviews: Sequence[PersonaReview], votes: Sequence[JudgeVote]
) -> ReviewerPart:
    own = [review for review in reviews if review.persona_id == persona_id]
    masked = own[0].masked_evidence_count
    shown = figures.counted(own[0].shown_evidence_count, "piece of evidence", "pieces of evidence")
    return ReviewerPart(
        persona_id=persona_id,
        knowledge=(
            f"Saw {shown}, {masked:,} withheld as beyond its knowledge (seed {own[0].mask_seed})."
        ),
        reviews=tuple((_words(review.dimension), _score(review, votes), review) for review in own),
    )


def _score(review: PersonaReview, votes: Sequence[JudgeVote]) -> str:
    judges = score_of_judges(votes, review.provenance, review.dimension)
    said = f" ({judges})" if judges else ""
    if review.score_0_to_10 is not None:
        return f"{figures.score(review.score_0_to_10)} of 10{said}"
    return f"{unscored(review.unscored_reason or 'unknown')}{said}"


def _funnel(records: Sequence[KnowledgeRecord]) -> str:
    if not records:
        return "No knowledge was found."
    before = [record for record in records if record.phase is KnowledgePhase.BEFORE]
    kinds = ", ".join(
        f"{sum(record.kind is kind for record in before):,} {kind.value}"
        for kind in dict.fromkeys(r.kind for r in before)
    )
    later = len(records) - len(before)
    read = figures.counted(sum(record.selected for record in records), "item")
    return (
        f"Found from before the cutoff: {kinds or 'nothing'}; later, for suggestions only:"
        f" {later:,}. {read} read and weighed."
    )


def _telling(committee: CommitteeEvaluation) -> list[GroundedEvidence]:
    """What judged for or against, most relevant first."""
    rows = [
        row for row in committee.evidence if row.relation in (Relation.SUPPORTS, Relation.REFUTES)
    ]
    return sorted(
        (row for row in rows if row.phase is KnowledgePhase.BEFORE),
        key=lambda row: -(row.relevance_0_to_1 or 0.0),
    )


def _line(row: GroundedEvidence, records: Sequence[KnowledgeRecord]) -> GroundLine:
    record = next((record for record in records if record.knowledge_id == row.knowledge_id), None)
    named = _named(record) if record is not None else line("unknown")
    return GroundLine(
        named, _words(row.part), row.relation.value if row.relation is not None else "unscored", row
    )


def _named(record: KnowledgeRecord) -> Line:
    return line(link(record.title or record.url, record.url))


def _words(name: str) -> str:
    return str(name).replace("_", " ").replace("tldr", "in brief")
