"""Which papers go on: to judgement, to augmentation, to comparison. What is chosen never depends on the order of what is given."""

from collections.abc import Mapping, Sequence

from schemas.identifiers import PaperId
from schemas.paper import Paper
from tasks.contribution.relevance import Judgement
from tasks.contribution.similarity import Nearness, most_words_shared, paper_text


async def nearest(
    idea: str, papers: Sequence[Paper], limit: int, nearness: Nearness, *, lexical_prefilter: bool
) -> tuple[list[Paper], dict[PaperId, float]]:
    """The `limit` papers most similar to the idea, in their given order, and every similarity that was computed for it.

    A list that fits is kept whole and nothing is embedded. With `lexical_prefilter`, of a list more than twice as
    long as needed only the `2 × limit` sharing most weighted words with the idea are embedded. Ties go to the smaller paper_id.
    """
    if len(papers) <= limit:
        return list(papers), {}
    embedded = most_words_shared(idea, papers, 2 * limit) if lexical_prefilter else list(papers)
    known = await similarity_of(embedded, nearness)
    chosen = {paper_id for paper_id, _ in sorted(known.items(), key=lambda item: (-item[1], item[0]))[:limit]}
    return [paper for paper in papers if paper.paper_id in chosen], known


async def similarity_of(papers: Sequence[Paper], nearness: Nearness) -> dict[PaperId, float]:
    """Similarity to the idea by paper; what was embedded before is not embedded again."""
    values = await nearness.of([paper_text(paper.title, paper.abstract) for paper in papers])
    return {paper.paper_id: value for paper, value in zip(papers, values, strict=True)}


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
