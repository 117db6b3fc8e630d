"""`relevance`: similarity of each paper's contributions to those of the idea.

Baseline: embedding similarity, with the share of a paper's specific words that the idea also uses.
"""

import bisect

from pydantic import Field

from schemas.base import Noun
from schemas.judging import LONG_ANSWER_TOKENS
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.relevance import JudgedPapers, RelevanceEntry, ShownPaper
from tasks.judging.step import BaselineTools, Step
from tasks.text.phrases import specific_stems


class RelevanceInput(Noun):
    idea: str = Field(min_length=1)
    idea_words_left_out: int = Field(
        default=0, ge=0, description="The sentences nearest to the dimensions are shown."
    )
    papers: tuple[ShownPaper, ...] = Field(min_length=1)
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each rationale; None: as many as it needs."
    )


class RelevanceReply(JudgedPapers):
    """How similar the contributions of each paper are."""


SIMILARITY_WEIGHT = 0.8
FULL_SHARE = 0.4
"""Share of a paper's specific words that counts as 1: ideas share 0.2 with papers of their field,
and 0.4 with nearly identical work.
"""
THRESHOLDS = (0.20, 0.34, 0.48, 0.58, 0.70)
"""Least closeness for a score of 1, 2, 3, 4, 5.

Set on 1,000 pairs of real ideas and papers: papers that share single words with the idea are below
0.2, papers of its field between 0.34 and 0.48, papers that a reviewer would want discussed above
0.48, close competitors above 0.58, and an abstract of the same work above 0.7. Shared words alone
give at most 0.2, so vocabulary without similarity never makes a paper relevant.
"""


async def baseline_relevance(inputs: RelevanceInput, tools: BaselineTools) -> RelevanceReply:
    """Score each paper separately by closeness.

    Closeness = 0.8 × cosine + 0.2 × shared words, scored by `THRESHOLDS`.
    """
    texts = [paper_text(paper.title, paper.abstract) for paper in inputs.papers]
    nearness = await Nearness(inputs.idea, tools.embedder).of(texts)
    idea_stems = specific_stems(inputs.idea)
    return RelevanceReply(
        papers=[
            _entry(paper, similarity, idea_stems)
            for paper, similarity in zip(inputs.papers, nearness, strict=True)
        ]
    )


def _entry(paper: ShownPaper, similarity: float, idea_stems: frozenset[str]) -> RelevanceEntry:
    text = paper_text(paper.title, paper.abstract)
    stems = specific_stems(f"{text} {paper.cited_as}")
    shared_share = len(stems & idea_stems) / (len(stems) or 1)
    score = relevance_score(similarity, shared_share)
    rationale = f"similarity {similarity:.2f}, {shared_share:.0%} of its specific words shared"
    return RelevanceEntry(key=paper.key, rationale=rationale, score=score)


def relevance_score(similarity_0_to_1: float, shared_share_0_to_1: float) -> int:
    """Return a score from 0 to 5 that grows with both signals."""
    word_share = min(shared_share_0_to_1 / FULL_SHARE, 1.0)
    return bisect.bisect_right(
        THRESHOLDS, SIMILARITY_WEIGHT * similarity_0_to_1 + (1 - SIMILARITY_WEIGHT) * word_share
    )


RELEVANCE = Step(
    name="relevance",
    version=6,
    package="tasks.contribution",
    input_model=RelevanceInput,
    output_model=RelevanceReply,
    baseline=baseline_relevance,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
