"""Similarity of papers to an idea, by embeddings or shared words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.profile import Ranking
from tasks.embeddings import Embedder
from tasks.text.words import content_words, sections_of_markdown, shorten_words

PASSAGE_WORDS = 90
"""Words per passage of an idea, which fit into the 128 tokens of a small sentence encoder."""
MAXIMUM_PASSAGES = 16
"""Embedded passages of one idea, spread evenly over it.

16 × 90 words cover all but unusually long ideas.
"""
SATURATION = 1.2
LENGTH_WEIGHT = 0.75
"""Okapi BM25's usual k1 and b (Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009).
"""


def paper_text(title: str, abstract: str | None) -> str:
    """Return the text by which a paper is embedded and cached."""
    return f"{title}\n{abstract}" if abstract else title


def idea_passages(idea: str) -> list[str]:
    """Split the idea into encoder-sized passages, each with its heading."""
    passages: list[str] = []
    for heading, body in sections_of_markdown(idea):
        rest = " ".join(f"{heading}. {body}".split()) if heading else " ".join(body.split())
        while rest:
            passage, left_out = shorten_words(rest, PASSAGE_WORDS)
            passages.append(passage)
            rest = rest[len(passage) :].strip() if left_out else ""
    if len(passages) <= MAXIMUM_PASSAGES:
        return passages or [idea]
    step = len(passages) / MAXIMUM_PASSAGES
    return [passages[int(place * step)] for place in range(MAXIMUM_PASSAGES)]


class Nearness:
    """Similarity of texts to one idea, from 0 to 1.

    It is the cosine with the mean over the idea's passages, or 0 if that is negative.

    Each text is embedded once, up to its first `word_limit` words, because processor time grows with
    their number. The idea itself is embedded in full.
    """

    def __init__(self, idea: str, embedder: Embedder, word_limit: int | None = None) -> None:
        self._passages = idea_passages(idea)
        self._embedder = embedder
        self._word_limit = word_limit
        self._centre: NDArray[np.float32] | None = None
        self._known: dict[str, float] = {}

    async def of(self, texts: Sequence[str]) -> list[float]:
        """Return the texts' similarities in order, by at most one request."""
        await self._learn([text for text in dict.fromkeys(texts) if text not in self._known])
        return [self._known[text] for text in texts]

    async def _learn(self, texts: list[str]) -> None:
        if not texts:
            return
        passages = self._passages if self._centre is None else []
        limit = self._word_limit
        short_texts = texts if limit is None else [shorten_words(text, limit)[0] for text in texts]
        vectors = await self._embedder.embed([*passages, *short_texts])
        if self._centre is None:
            mean = vectors[: len(passages)].mean(axis=0)
            length = np.float32(np.linalg.norm(mean))
            self._centre = mean / length if length else mean
        cosines = np.clip(vectors[len(passages) :] @ self._centre, 0.0, 1.0)
        self._known.update(
            {text: round(float(cosine), 4) for text, cosine in zip(texts, cosines, strict=True)}
        )


def most_words_shared(idea: str, papers: Sequence[Paper], limit: int) -> list[Paper]:
    """Return the `limit` papers with most shared weighted words, in input order."""
    if len(papers) <= limit:
        return list(papers)
    return _best(papers, SharedWords(papers).with_text(idea), limit)


def _best(papers: Sequence[Paper], worth: Mapping[PaperId, float], limit: int) -> list[Paper]:
    """Return the `limit` best papers in input order.

    Ties go to the smaller paper_id.
    """
    best_ids = set(sorted(worth, key=lambda paper_id: (-worth[paper_id], paper_id))[:limit])
    return [paper for paper in papers if paper.paper_id in best_ids]


class SharedWords:
    """BM25 over titles and abstracts; the papers determine the word weights."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._bags = {
            paper.paper_id: Counter(content_words(paper_text(paper.title, paper.abstract)))
            for paper in papers
        }
        self._containing = Counter(word for bag in self._bags.values() for word in bag)
        self._mean_length = (
            sum(bag.total() for bag in self._bags.values()) / max(len(self._bags), 1) or 1.0
        )

    def with_text(self, text: str) -> dict[PaperId, float]:
        """Return the score of every paper for the content words of `text`."""
        query_weights = {
            word: (1.0 + math.log(count)) * self._rarity(word)
            for word, count in Counter(content_words(text)).items()
            if word in self._containing
        }
        scores = {}
        for paper_id, bag in self._bags.items():
            relative_length = bag.total() / self._mean_length
            damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative_length)
            scores[paper_id] = math.fsum(
                weight * bag[word] * (SATURATION + 1) / (bag[word] + damping)
                for word, weight in query_weights.items()
                if word in bag
            )
        return scores

    def _rarity(self, word: str) -> float:
        containing = self._containing[word]
        return math.log(1 + (len(self._bags) - containing + 0.5) / (containing + 0.5))


PREFILTERED = 3
"""Papers embedded for each one needed, after the lexical prefilter."""

# 60 is the constant in the source of `fused`.
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
    """Return the `limit` most similar papers in input order, and similarities.

    A list that fits is returned without embedding. With `lexical_prefilter`, only the `PREFILTERED
    × limit` papers that share most weighted words with the idea are embedded. Ties go to the
    smaller paper_id.
    """
    if len(papers) <= limit:
        return list(papers), {}
    candidates = (
        most_words_shared(idea, papers, PREFILTERED * limit) if lexical_prefilter else list(papers)
    )
    similarities = await similarity_of(candidates, nearness)
    worth = (
        similarities
        if ranking is Ranking.EMBEDDING
        else fused([similarities, SharedWords(candidates).with_text(idea)])
    )
    return _best(papers, worth, limit), similarities


def fused(rankings: Sequence[Mapping[PaperId, float]]) -> dict[PaperId, float]:
    """Fuse rankings of the same papers by reciprocal ranks.

    The sum of 1 / (60 + rank) counts, with ties by paper_id. Reciprocal rank fusion (Cormack,
    Clarke & Büttcher, SIGIR 2009) needs no common scale.
    """
    worth: dict[PaperId, float] = {}
    for values in rankings:
        ordered_ids = sorted(values, key=lambda paper_id: (-values[paper_id], paper_id))
        for rank, paper_id in enumerate(ordered_ids, start=1):
            worth[paper_id] = worth.get(paper_id, 0.0) + 1 / (_FUSION_DAMPING + rank)
    return worth


async def similarity_of(papers: Sequence[Paper], nearness: Nearness) -> dict[PaperId, float]:
    """Return the similarity to the idea by paper; embeddings are reused."""
    values = await nearness.of([paper_text(paper.title, paper.abstract) for paper in papers])
    return {paper.paper_id: value for paper, value in zip(papers, values, strict=True)}
