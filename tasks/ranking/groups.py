"""Finds groups of ideas on one subject by clustering their embeddings (average linkage over cosine
distance).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from tasks.embeddings import Embedder, unit
from tasks.embeddings.clusters import clusters_below
from tasks.embeddings.similarity import idea_passages
from tasks.ranking.dossier import Dossier

SIMILARITY = 0.5
"""Mean cosine two clusters must have to become one."""
IDEAS_PER_PART = 4000
"""Above so many ideas the batch is first cut into parts of neighbours: linkage takes 8 bytes per
pair of ideas (128 MB per part).
"""
TEXTS_PER_REQUEST = 512

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FoundGroups:
    """`group_of`: every idea's group, named after its most central idea.

    `similarity_of`: an idea's cosine to the centre of its group.
    """

    group_of: Mapping[IdeaId, str]
    similarity_of: Mapping[IdeaId, float]


async def find_groups(
    dossiers: Sequence[Dossier], embedder: Embedder, *, similarity: float = SIMILARITY
) -> FoundGroups:
    """Group all `dossiers`, whatever group they name.

    The same ideas in any order give the same groups under the same names. An idea near to no other
    is a group of one.
    """
    ordered = sorted(dossiers, key=lambda dossier: dossier.idea_id)
    if not ordered:
        return FoundGroups({}, {})
    vectors = await _vectors(ordered, embedder)
    labels = await asyncio.to_thread(_labels, vectors, similarity)
    return _named([dossier.idea_id for dossier in ordered], vectors, labels)


async def _vectors(dossiers: Sequence[Dossier], embedder: Embedder) -> Vectors:
    """The mean over an idea's passages, so that a long idea is read whole; unit rows."""
    passages = [idea_passages(f"{dossier.title}\n\n{dossier.text}") for dossier in dossiers]
    texts = [text for some in passages for text in some]
    parts = [
        await embedder.embed(texts[start : start + TEXTS_PER_REQUEST])
        for start in range(0, len(texts), TEXTS_PER_REQUEST)
    ]
    starts = np.cumsum([0, *(len(some) for some in passages[:-1])])
    return unit(np.add.reduceat(np.vstack(parts), starts, axis=0))


def _labels(vectors: Vectors, similarity: float) -> NDArray[np.intp]:
    if len(vectors) <= IDEAS_PER_PART:
        return clusters_below(vectors, similarity)
    from sklearn.cluster import BisectingKMeans  # takes two seconds to load

    parts = -(-len(vectors) // (IDEAS_PER_PART // 2))
    coarse = BisectingKMeans(
        n_clusters=parts, random_state=0, bisecting_strategy="largest_cluster"
    ).fit_predict(vectors)
    labels = np.zeros(len(vectors), dtype=np.intp)
    used = 0
    for part in range(parts):
        members = np.flatnonzero(coarse == part)
        for start in range(0, len(members), IDEAS_PER_PART):
            some = members[start : start + IDEAS_PER_PART]
            labels[some] = clusters_below(vectors[some], similarity) + used
            used = int(labels[some].max()) + 1
    return labels


def _named(ids: Sequence[IdeaId], vectors: Vectors, labels: NDArray[np.intp]) -> FoundGroups:
    group_of: dict[IdeaId, str] = {}
    similarity_of: dict[IdeaId, float] = {}
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        centre = vectors[members].sum(axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        cosines = np.round(np.clip(vectors[members] @ centre, 0.0, 1.0), 6)
        name = f"like {ids[int(members[int(np.argmax(cosines))])]}"
        for member, cosine in zip(members.tolist(), cosines, strict=True):
            group_of[ids[member]] = name
            similarity_of[ids[member]] = float(cosine)
    return FoundGroups(group_of, similarity_of)
