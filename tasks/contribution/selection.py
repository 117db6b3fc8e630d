"""Which papers go on: to judgement, to augmentation, to comparison. What is chosen never depends on the order of what is given."""

from collections.abc import Mapping, Sequence

from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.profile import Ranking
from tasks.contribution.relevance import Judgement
from tasks.contribution.similarity import Nearness, SharedWords, most_words_shared, paper_text

PREFILTERED = 3
"""Papers embedded for each one needed, where shared words choose beforehand."""
_FUSION_DAMPING = 60


async def nearest(
    idea: str,
    papers: Sequence[Paper],
    limit: int,
    nearness: Nearness,
    *,
    lexical_prefilter: bool,
    ranking: Ranking = Ranking.EMBEDDING,
) -> tuple[list[Paper], dict[PaperId, float]]:
    """The `limit` papers most similar to the idea, in their given order, and every similarity that was computed for it.

    A list that fits is kept whole and nothing is embedded. With `lexical_prefilter`, of a longer list only the
    `PREFILTERED × limit` sharing most weighted words with the idea are embedded. Ties go to the smaller paper_id.
    """
    if len(papers) <= limit:
        return list(papers), {}
    embedded = most_words_shared(idea, papers, PREFILTERED * limit) if lexical_prefilter else list(papers)
    known = await similarity_of(embedded, nearness)
    worth = known if ranking is Ranking.EMBEDDING else fused([known, SharedWords(embedded).with_text(idea)])
    chosen = {paper_id for paper_id, _ in sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:limit]}
    return [paper for paper in papers if paper.paper_id in chosen], known


def fused(rankings: Sequence[Mapping[PaperId, float]]) -> dict[PaperId, float]:
    """Several rankings of the same papers as one: the sum of 1 / (60 + rank), by value, ties by paper_id.

    Reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009) needs no common scale.
    """
    worth: dict[PaperId, float] = {}
    for values in rankings:
        ordered = sorted(values, key=lambda paper_id: (-values[paper_id], paper_id))
        for rank, paper_id in enumerate(ordered, start=1):
            worth[paper_id] = worth.get(paper_id, 0.0) + 1 / (_FUSION_DAMPING + rank)
    return worth


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
