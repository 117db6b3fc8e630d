"""How near finds stand to the idea and to the part they were searched for: by embeddings, and by a reranker where there is one."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.committee import IdeaPart
from tasks.committee.knowledge.outline import Outline
from tasks.committee.knowledge.pool import Candidate
from tasks.committee.knowledge.reranker import Reranker
from tasks.embeddings.embedder import Embedder
from tasks.embeddings.similarity import idea_passages


class Similarity:
    """Mean of two cosines: to the centre of the idea's passages, and to the nearest of the parts it was found for. From 0 to 1."""

    def __init__(self, outline: Outline, embedder: Embedder) -> None:
        self._outline = outline
        self._embedder = embedder
        self._centre: NDArray[np.float32] | None = None
        self._parts: dict[IdeaPart, NDArray[np.float32]] = {}

    async def enter(self, candidates: Sequence[Candidate]) -> None:
        """Set the similarity of new candidates; one request to the embedder."""
        if not candidates:
            return
        anchors = (
            []
            if self._centre is not None
            else [
                *idea_passages(self._outline.idea.text),
                *map(self._part_text, self._outline.parts),
            ]
        )
        texts = list(dict.fromkeys(candidate.text for candidate in candidates))
        vectors = await self._embedder.embed([*anchors, *texts])
        if self._centre is None:
            passages = len(anchors) - len(self._outline.parts)
            self._centre = _unit(vectors[:passages].mean(axis=0))
            self._parts = dict(
                zip(self._outline.parts, vectors[passages : len(anchors)], strict=True)
            )
        by_text = dict(zip(texts, vectors[len(anchors) :], strict=True))
        for candidate in candidates:
            candidate.semantic_0_to_1 = self._of(by_text[candidate.text], candidate)

    def _of(self, vector: NDArray[np.float32], candidate: Candidate) -> float:
        assert self._centre is not None
        part = max(float(vector @ self._parts[each]) for each in candidate.parts)
        return round(min(max(0.5 * (float(vector @ self._centre) + part), 0.0), 1.0), 4)

    def _part_text(self, part: IdeaPart) -> str:
        return "\n".join(self._outline.claims[part])


async def rerank(
    candidates: Sequence[Candidate], outline: Outline, reranker: Reranker | None
) -> None:
    """Replace the similarity of the few that came through by the reranker's; without one the embedding's stands."""
    if reranker is None or not candidates:
        return
    by_part: dict[IdeaPart, list[Candidate]] = {}
    for candidate in candidates:
        by_part.setdefault(candidate.query.part, []).append(candidate)
    async with asyncio.TaskGroup() as group:
        tasks = {
            part: group.create_task(
                reranker.scores(
                    "\n".join(outline.claims[part]), [candidate.text for candidate in found]
                )
            )
            for part, found in by_part.items()
        }
    for part, found in by_part.items():
        for candidate, score in zip(found, tasks[part].result(), strict=True):
            candidate.semantic_0_to_1 = score


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.float32(np.linalg.norm(vector))
    return vector / length if length else vector
