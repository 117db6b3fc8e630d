"""Groups of ideas on one subject, by average linkage over cosine distances of embeddings."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from tasks.embeddings import Embedder, unit
from tasks.embeddings.clusters import clusters_below
from tasks.embeddings.similarity import idea_passages
from tasks.ranking.dossier import Dossier

SIMILARITY = 0.5
"""Mean cosine from which two clusters are merged."""
IDEAS_PER_PART = 4000
"""Batch size above which ideas are first cut into parts of neighbors.

Linkage takes 8 bytes per pair of ideas (128 MB per part).
"""
TEXTS_PER_REQUEST = 512

Vectors = NDArray[np.float32]


async def find_groups(dossiers: Sequence[Dossier], embedder: Embedder) -> dict[IdeaId, str]:
    """Return the group of each idea, whatever its given one.

    A group is named after its most central idea. The result does not depend on the order of ideas.
    An idea close to no other is a group of one.
    """
    ordered_dossiers = sorted(dossiers, key=lambda dossier: dossier.idea_id)
    if not ordered_dossiers:
        return {}
    vectors = await _vectors(ordered_dossiers, embedder)
    labels = await asyncio.to_thread(_labels, vectors)
    group_of: dict[IdeaId, str] = {}
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        centre = vectors[members].sum(axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        cosines = np.round(np.clip(vectors[members] @ centre, 0.0, 1.0), 6)
        central = ordered_dossiers[int(members[int(np.argmax(cosines))])].idea_id
        group_of |= {ordered_dossiers[member].idea_id: f"like {central}" for member in members}
    return group_of


async def _vectors(dossiers: Sequence[Dossier], embedder: Embedder) -> Vectors:
    """Return unit mean vectors over the passages of each idea.

    All passages of a long idea count.
    """
    passages = [idea_passages(f"{dossier.title}\n\n{dossier.text}") for dossier in dossiers]
    texts = [text for some in passages for text in some]
    parts = [
        await embedder.embed(texts[start : start + TEXTS_PER_REQUEST])
        for start in range(0, len(texts), TEXTS_PER_REQUEST)
    ]
    starts = np.cumsum([0, *(len(some) for some in passages[:-1])])
    return unit(np.add.reduceat(np.vstack(parts), starts, axis=0))


def _labels(vectors: Vectors) -> NDArray[np.intp]:
    if len(vectors) <= IDEAS_PER_PART:
        return clusters_below(vectors, SIMILARITY)
    from sklearn.cluster import BisectingKMeans  # takes two seconds to load

    parts = -(-len(vectors) // (IDEAS_PER_PART // 2))
    coarse = BisectingKMeans(
        n_clusters=parts, random_state=0, bisecting_strategy="largest_cluster"
    ).fit_predict(vectors)
    labels = np.zeros(len(vectors), dtype=np.intp)
    label_count = 0
    for part in range(parts):
        members = np.flatnonzero(coarse == part)
        for start in range(0, len(members), IDEAS_PER_PART):
            block = members[start : start + IDEAS_PER_PART]
            labels[block] = clusters_below(vectors[block], SIMILARITY) + label_count
            label_count = int(labels[block].max()) + 1
    return labels
