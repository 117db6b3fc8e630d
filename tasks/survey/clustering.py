"""Clusters of the kept papers by text and citations, named by distinctive phrases."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import SurveyCluster, SurveyPaper
from tasks.embeddings import Embedder
from tasks.embeddings.clusters import clusters_by_count
from tasks.embeddings.similarity import paper_text
from tasks.text.words import content_words, key_phrases

MOST_CLUSTERS = 8
PAPERS_PER_CLUSTER = 8
"""Average in a survey with few papers."""
LINK_NEARNESS = 0.25
"""Added to the similarity of two papers if one cites the other."""
KEY_PAPERS = 3
NAME_PHRASES = 2
PHRASES_PER_TITLE = 4


async def cluster_papers(
    papers: Sequence[SurveyPaper],
    texts: Mapping[PaperId, Paper],
    links: Sequence[CitationEdge],
    embedder: Embedder,
) -> tuple[tuple[SurveyCluster, ...], dict[PaperId, str]]:
    """Return clusters, largest first, and the cluster id of each paper.

    Args:
        papers: in descending order of weight.
    """
    if not papers:
        return (), {}
    names = [paper.paper_id for paper in papers]
    vectors = await embedder.embed(
        [paper_text(texts[name].title, texts[name].abstract) for name in names]
    )
    members: dict[int, list[PaperId]] = defaultdict(list)
    for name, label in zip(names, _labels(_nearness(vectors, names, links)), strict=True):
        members[label].append(name)
    ordered_groups = sorted(
        members.values(), key=lambda group: (-len(group), names.index(group[0]))
    )
    titles = [[texts[name].title for name in group] for group in ordered_groups]
    clusters: list[SurveyCluster] = []
    cluster_of: dict[PaperId, str] = {}
    for number, group in enumerate(ordered_groups, start=1):
        cluster_of |= dict.fromkeys(group, f"c{number}")
        years = [year for name in group if (year := texts[name].year) is not None]
        clusters.append(
            SurveyCluster(
                cluster_id=f"c{number}",
                name=_name(titles[number - 1], titles),
                paper_count=len(group),
                first_year=min(years, default=None),
                last_year=max(years, default=None),
                key_paper_ids=tuple(group[:KEY_PAPERS]),
            )
        )
    return tuple(clusters), cluster_of


def _nearness(
    vectors: NDArray[np.float32], names: Sequence[PaperId], links: Sequence[CitationEdge]
) -> NDArray[np.float64]:
    place = {name: number for number, name in enumerate(names)}
    nearness = np.asarray(vectors @ vectors.T, dtype=np.float64)
    for link in links:
        one, other = place.get(link.citing_paper_id), place.get(link.cited_paper_id)
        if one is not None and other is not None:
            nearness[one, other] += LINK_NEARNESS
            nearness[other, one] += LINK_NEARNESS
    return nearness.round(6)


def _labels(nearness: NDArray[np.float64]) -> list[int]:
    count = min(MOST_CLUSTERS, math.ceil(len(nearness) / PAPERS_PER_CLUSTER))
    # Papers on one question are all close to each other. Centered profiles show to which papers
    # each is closer than usual; with raw distances all but a few outliers form one cluster.
    profiles = nearness - nearness.mean(axis=1, keepdims=True)
    return clusters_by_count(profiles, count, "ward", "euclidean")


def _name(titles: Sequence[str], all_titles: Sequence[Sequence[str]]) -> str:
    """Choose phrases that many titles of the cluster share and few titles of others contain."""
    stems_of_cluster = [set(content_words(title)) for title in titles]
    stems_of_all = [set(content_words(title)) for others in all_titles for title in others]
    phrases = Counter(
        phrase
        for title in titles
        for phrase in dict.fromkeys(key_phrases(title, PHRASES_PER_TITLE))
    )

    def worth(phrase: str) -> float:
        stems = set(content_words(phrase))
        in_cluster = sum(stems <= each for each in stems_of_cluster)
        in_all = sum(stems <= each for each in stems_of_all)
        return in_cluster * in_cluster / in_all * math.sqrt(len(stems)) if stems and in_all else 0.0

    best_phrases: list[str] = []
    named_stems: set[str] = set()
    for phrase in sorted(phrases, key=lambda phrase: (-worth(phrase), phrase)):
        stems = set(content_words(phrase))
        if len(best_phrases) < NAME_PHRASES and not stems & named_stems:
            best_phrases.append(phrase)
            named_stems |= stems
    return ", ".join(best_phrases) or titles[0]
