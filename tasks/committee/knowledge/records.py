"""Candidates as rows."""

from collections.abc import Sequence

from schemas.committee import KnowledgePhase, KnowledgeRecord
from schemas.identifiers import PaperId
from schemas.knowledge import SourceKind
from tasks.committee.knowledge.papers import paper_of
from tasks.committee.knowledge.pool import Candidate
from tasks.committee.knowledge.selection import score_0_to_1


def records_of(candidates: Sequence[Candidate], judge_weight: float) -> tuple[tuple[KnowledgeRecord, ...], dict[int, str]]:
    """One row per candidate under k1, k2, …, and the identifier of each by its `id`."""
    names = {id(candidate): f"k{number}" for number, candidate in enumerate(candidates, start=1)}
    return tuple(_record(candidate, names[id(candidate)], judge_weight) for candidate in candidates), names


def _record(candidate: Candidate, name: str, judge_weight: float) -> KnowledgeRecord:
    item = candidate.item
    return KnowledgeRecord(
        knowledge_id=name,
        kind=item.kind,
        source=item.source,
        phase=candidate.phase,
        part=candidate.query.part,
        query=candidate.query.text,
        round=candidate.round,
        title=item.title,
        url=item.url,
        published=item.published,
        paper_id=_paper_id(candidate),
        text=item.text,
        reading=candidate.reading,
        semantic_similarity_0_to_1=candidate.semantic_0_to_1,
        judge_score_0_to_1=candidate.judge_0_to_1,
        score_0_to_1=score_0_to_1(candidate, judge_weight),
        selected=candidate.selected,
        unscored_reason=candidate.unscored_reason,
        provenance=candidate.provenance,
    )


def _paper_id(candidate: Candidate) -> PaperId | None:
    """Later papers stand in no table of papers: nothing after the cutoff is kept there."""
    if candidate.item.kind is not SourceKind.PAPERS or candidate.phase is not KnowledgePhase.BEFORE:
        return None
    return (candidate.paper or paper_of(candidate.item)).paper_id
