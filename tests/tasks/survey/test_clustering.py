"""Kept papers as clusters: by what tells them apart, however alike they are."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import PaperId
from schemas.literature.survey import Edge, SurveyPaper
from tasks.survey.survey import cluster_papers
from tests.support.survey_fakes import paper

THEMES = ("bats", "birds", "bees")


class Planted:
    """Texts that are nearly one text; a little of each is its theme, or its own."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        drawn = np.random.default_rng(0)
        vectors = []
        for text in texts:
            vector = drawn.normal(0, 0.1, 60)
            vector[0] += 1.0
            for place, theme in enumerate(THEMES, start=1):
                vector[place] += 0.5 * (theme in text)
            if "stray" in text:
                vector += drawn.normal(0, 0.2, 60)
            vectors.append(vector / np.linalg.norm(vector))
        return np.asarray(vectors, dtype=np.float32)


def kept(name: str) -> SurveyPaper:
    return SurveyPaper(
        paper_id=PaperId(name),
        text=paper(name),
        layer=0,
        edge=Edge.SEARCH,
        reached_from="animals",
        link_count=0,
        relevance_0_to_5=4,
        kept=True,
        weight=1.0,
        quality_0_to_1=None,
        recency_0_to_1=None,
    )


async def test_papers_that_are_all_alike_are_told_apart_by_what_each_is_nearest_to() -> None:
    names = [f"{theme} {number}" for theme in THEMES for number in range(7)]
    strays = [f"stray {number}" for number in range(2)]
    texts = {PaperId(name): paper(name) for name in (*names, *strays)}
    papers = [kept(name) for name in texts]
    clusters, cluster_of = await cluster_papers(papers, texts, (), Planted())
    themes = {
        theme: Counter(cluster_of[PaperId(name)] for name in names if name.startswith(theme))
        for theme in THEMES
    }
    assert len(clusters) == len(THEMES)
    assert all(len(found) == 1 for found in themes.values())
    assert len({next(iter(found)) for found in themes.values()}) == len(THEMES)
