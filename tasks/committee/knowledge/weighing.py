"""Selection of finds by similarity, then with credibility (InnoEval, "Method", 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schemas.judgement.committee import IdeaPart, KnowledgePhase
from schemas.literature.knowledge import KnowledgeItem, SourceKind
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.committee.knowledge.context import Context, Outline
from tasks.committee.knowledge.pool import Candidate, Pool, assign_keys, host_of
from tasks.committee.knowledge.tools import CrossEncoderReranker
from tasks.committee.steps.finds import (
    JUDGE_CREDIBILITY,
    CredibilityInput,
    ItemFacts,
)
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import idea_passages
from tasks.judging.packing import even_batches, side_by_side
from tasks.judging.reply_fields import by_key

SIMILARITY_SHARE = 3
"""Size of the shortlist by similarity, as a multiple of m."""


def score_0_to_1(candidate: Candidate, judge_weight: float) -> float | None:
    """Return (1 - α) · similarity + α · judge.

    Returns None without a needed judge's score.
    """
    if candidate.semantic_0_to_1 is None or (candidate.judge_0_to_1 is None and judge_weight > 0):
        return None
    return round(
        (1 - judge_weight) * candidate.semantic_0_to_1
        + judge_weight * (candidate.judge_0_to_1 or 0.0),
        4,
    )


def shortlist(pool: Pool, limit: int) -> list[Candidate]:
    return [
        candidate
        for phase in KnowledgePhase
        for kind in SourceKind
        for candidate in sorted(pool.of(phase, kind), key=_nearness)[: SIMILARITY_SHARE * limit]
    ]


def select(
    candidates: Iterable[Candidate], pool: Pool, limit: int, judge_weight: float
) -> list[Candidate]:
    """Select the `limit` best candidates of every kind and phase.

    They are marked in the pool.

    A candidate without a judge's score is ranked by its similarity alone.
    """
    # By `id`: candidates are mutable and cannot be hashed.
    eligible_ids = {id(candidate) for candidate in candidates}
    chosen_candidates: list[Candidate] = []
    for phase in KnowledgePhase:
        for kind in SourceKind:
            ranked_candidates = sorted(
                (candidate for candidate in pool.of(phase, kind) if id(candidate) in eligible_ids),
                key=lambda candidate: -_place(candidate, judge_weight),
            )
            chosen_candidates += ranked_candidates[:limit]
    selected_ids = {id(candidate) for candidate in chosen_candidates}
    for candidate in pool:
        candidate.selected = id(candidate) in selected_ids
    return chosen_candidates


def _place(candidate: Candidate, judge_weight: float) -> float:
    score = score_0_to_1(candidate, judge_weight)
    return score if score is not None else candidate.semantic_0_to_1 or 0.0


def _nearness(candidate: Candidate) -> float:
    return -(candidate.semantic_0_to_1 or 0.0)


_SUBJECT = f"{JUDGE_CREDIBILITY.name} of finds"
_NO_ENTRY = "the reply has no usable entry for a find whose credibility is known in part"


async def judge_credibility(context: Context, candidates: Sequence[Candidate]) -> None:
    """Judge unjudged candidates, `items_per_judge_call` per concurrent call; with α = 0 none."""
    if context.parameters.judge_weight == 0:
        return
    waiting = [candidate for candidate in candidates if not candidate.judged]
    batches = [
        assign_keys(batch)
        for batch in even_batches(waiting, context.parameters.items_per_judge_call)
    ]
    outcomes = await side_by_side(
        context.engine.run(
            JUDGE_CREDIBILITY,
            CredibilityInput(
                items=tuple(_item_facts(key, candidate) for key, candidate in batch.items()),
                as_of_year=context.as_of_year,
            ),
        )
        for batch in batches
    )
    for batch, outcome in zip(batches, outcomes, strict=True):
        if isinstance(outcome, Unscored):
            context.failures.unscored(outcome, _SUBJECT)
            for candidate in batch.values():
                candidate.unscored_reason = outcome.reason
        else:
            entries = by_key(outcome.value.items, batch)
            for key, candidate in batch.items():
                if key in entries:
                    candidate.judge_0_to_1 = entries[key].score / 10
                elif _is_unknown(candidate.item):
                    candidate.unscored_reason = Reason.NO_EVIDENCE
                else:
                    candidate.unscored_reason = Reason.REPLY_UNPARSABLE
                    context.failures.omission(_SUBJECT, _NO_ENTRY)
        for candidate in batch.values():
            candidate.judged, candidate.provenance = True, outcome.provenance


def _item_facts(key: str, candidate: Candidate) -> ItemFacts:
    item = candidate.item
    return ItemFacts(
        key=key,
        kind=item.kind.value,
        title=item.title,
        site=_site(item),
        published=item.published.isoformat() if item.published else "undated",
        citation_count=item.citation_count,
        stars=item.stars,
    )


def _site(item: KnowledgeItem) -> str:
    """Return a page's host, a repository's owner, or a paper's venue.

    It is empty if unknown.
    """
    if item.kind is SourceKind.WEB:
        return host_of(item.url)
    return item.venue or (", ".join(item.authors[:1]) if item.kind is SourceKind.CODE else "")


def _is_unknown(item: KnowledgeItem) -> bool:
    """Return whether there are no metadata to judge by."""
    return item.citation_count is None and item.stars is None and not _site(item)


@dataclass(slots=True)
class Similarity:
    """Mean of two cosines, 0 to 1.

    One is to the center of the idea, the other to the nearest part of its queries.
    """

    _outline: Outline
    _embedder: Embedder
    _centre: NDArray[np.float32] | None = None
    _parts: dict[IdeaPart, NDArray[np.float32]] = field(default_factory=dict)

    async def enter(self, candidates: Sequence[Candidate]) -> None:
        """Set the similarity of new candidates, by one request to the embedder."""
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
    candidates: Sequence[Candidate], outline: Outline, reranker: CrossEncoderReranker | None
) -> None:
    """Replace the similarity of candidates by the reranker's score, if there is a reranker."""
    if reranker is None or not candidates:
        return
    by_part: dict[IdeaPart, list[Candidate]] = {}
    for candidate in candidates:
        by_part.setdefault(candidate.query.part, []).append(candidate)
    scores_by_group = await side_by_side(
        reranker.scores("\n".join(outline.claims[part]), [candidate.text for candidate in group])
        for part, group in by_part.items()
    )
    for group, scores in zip(by_part.values(), scores_by_group, strict=True):
        for candidate, score in zip(group, scores, strict=True):
            candidate.semantic_0_to_1 = score


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.float32(np.linalg.norm(vector))
    return vector / length if length else vector
