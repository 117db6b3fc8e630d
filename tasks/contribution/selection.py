"""Which papers go on: to judgement, to augmentation, to comparison. What is chosen never depends on the order of what is given."""

from collections.abc import Mapping, Sequence

from schemas.identifiers import PaperId
from schemas.paper import Paper
from tasks.contribution.relevance import Judgement


def relevant(papers: Sequence[Paper], judgements: Mapping[PaperId, Judgement], minimum: int) -> list[Paper]:
    """The papers judged at `minimum` or above. Unscored papers are not among them."""
    return [paper for paper in papers if (score := _score(paper, judgements)) is not None and score >= minimum]


def most_relevant(
    papers: Sequence[Paper], judgements: Mapping[PaperId, Judgement], similarity: Mapping[PaperId, float], limit: int
) -> list[Paper]:
    """The `limit` most relevant papers, most relevant first; ties by similarity to the idea, then by paper_id.

    ScholarEval samples its 25 papers at random (B.2.1); the most relevant ones make the comparison repeatable and miss no competitor.
    """
    ordered = sorted(papers, key=lambda paper: (-(_score(paper, judgements) or 0), -similarity.get(paper.paper_id, 0.0), paper.paper_id))
    return ordered[:limit]


def _score(paper: Paper, judgements: Mapping[PaperId, Judgement]) -> int | None:
    judgement = judgements.get(paper.paper_id)
    return judgement.score if judgement else None
