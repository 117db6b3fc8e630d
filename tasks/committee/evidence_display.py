"""Evidence in reviewers' prompts under keys, and the citations of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.identifiers import PaperId
from schemas.judgement.committee import GroundedEvidence, KnowledgePhase, KnowledgeRecord, Relation
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from tasks.citations.keys import Shown, show
from tasks.citations.references import publication_label, reference
from tasks.citations.settle import Settled
from tasks.committee.steps.prompt_inputs import FindingShown, KnowledgeShown

LEAST_RELEVANCE_OF_NEITHER = 0.4
"""Least relevance of a neutral finding in a prompt: close enough to matter for novelty."""
_UNDATED = "undated"


@dataclass(frozen=True, slots=True)
class Library:
    """Knowledge of one idea as citable papers.

    Papers of the table `papers` keep their identifiers. Other items (pages, repositories, later
    papers) become papers with title and URL under an identifier of their own.
    """

    records: Mapping[str, KnowledgeRecord]
    papers: Mapping[PaperId, Paper]

    @classmethod
    def of(cls, records: Iterable[KnowledgeRecord], papers: Iterable[Paper]) -> "Library":
        return cls(
            {record.knowledge_id: record for record in records},
            {paper.paper_id: paper for paper in papers},
        )

    def citable(self, knowledge_id: str) -> Paper:
        record = self.records[knowledge_id]
        if record.paper_id is not None and record.paper_id in self.papers:
            return self.papers[record.paper_id]
        return Paper(
            paper_id=PaperId(f"knowledge:{knowledge_id}"),
            title=record.title or record.url,
            publication_date=record.published,
            url=record.url,
        )

    def knowledge_of(self, paper_id: PaperId) -> str:
        """Return the first knowledge item of a paper returned by `citable`."""
        name = paper_id.removeprefix("knowledge:")
        if name != paper_id:
            return name
        return next(
            record.knowledge_id for record in self.records.values() if record.paper_id == paper_id
        )


@dataclass(frozen=True, slots=True)
class EvidenceDisplay:
    items: tuple[KnowledgeShown, ...]
    prompt_papers: Shown


def relevant_evidence(
    evidence: Iterable[GroundedEvidence], phase: KnowledgePhase
) -> tuple[GroundedEvidence, ...]:
    """Return the relevant scored evidence of one phase, most relevant first."""
    rows = [
        row
        for row in evidence
        if row.phase is phase
        and row.relation is not None
        and (
            row.relation is not Relation.NEITHER
            or (row.relevance_0_to_1 or 0.0) >= LEAST_RELEVANCE_OF_NEITHER
        )
    ]
    return tuple(sorted(rows, key=lambda row: -(row.relevance_0_to_1 or 0.0)))


def display_evidence(evidence: Sequence[GroundedEvidence], library: Library) -> EvidenceDisplay:
    """Group evidence by the knowledge it comes from, under keys, best first."""
    papers = {row.knowledge_id: library.citable(row.knowledge_id) for row in evidence}
    prompt_papers = show(list(papers.values()))
    items: dict[str, list[GroundedEvidence]] = {}
    for row in evidence:
        items.setdefault(prompt_papers.key_of(papers[row.knowledge_id].paper_id), []).append(row)
    return EvidenceDisplay(
        tuple(_item(key, rows, papers, library) for key, rows in items.items()), prompt_papers
    )


def _item(
    key: str, rows: Sequence[GroundedEvidence], papers: Mapping[str, Paper], library: Library
) -> KnowledgeShown:
    paper = papers[rows[0].knowledge_id]
    label = publication_label(paper)
    return KnowledgeShown(
        key=key,
        kind=library.records[rows[0].knowledge_id].kind.value,
        title=paper.title,
        published=_UNDATED if label == "n.d." else label,
        findings=tuple(
            FindingShown(
                part=row.part.value,
                relation=(row.relation or Relation.NEITHER).value,
                relevance_0_to_1=row.relevance_0_to_1 or 0.0,
                evidence=row.evidence,
                analysis=row.analysis,
            )
            for row in rows
        ),
    )


def citations_of(
    settled_text: Settled, prompt_papers: Shown, library: Library, *, subject: str, field: str
) -> tuple[Citation, ...]:
    """Return one row per cited item.

    Items without a row in `papers` have a knowledge id only.
    """
    return tuple(
        Citation(
            paper_id=paper_id if paper_id in library.papers else None,
            knowledge_id=library.knowledge_of(paper_id),
            citation_key=prompt_papers.key_of(paper_id),
            module="committee",
            subject=subject,
            field=field,
            count=count,
        )
        for paper_id, count in settled_text.cited
    )


def without_references(markdown: str, prompt_papers: Shown) -> str:
    """Remove the references to `prompt_papers`, for a prompt with other keys."""
    for text in sorted((reference(paper) for paper in prompt_papers.papers), key=len, reverse=True):
        markdown = markdown.replace(f" {text}", "").replace(text, "")
    return markdown
