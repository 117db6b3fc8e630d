"""`survey_relevance`: whether a survey of a question would discuss a paper.

Baseline: embedding similarity, with the share of the question's words that the paper uses.
"""

import bisect

from pydantic import Field

from schemas.base import Noun
from schemas.judging import LONG_ANSWER_TOKENS
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.relevance import JudgedPapers, RelevanceEntry, ShownPaper
from tasks.judging.step import BaselineTools, Step
from tasks.text.phrases import specific_stems


class SurveyRelevanceInput(Noun):
    """Would a survey of the question discuss each paper?"""

    question: str = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)


class SurveyRelevanceReply(JudgedPapers):
    """Whether a survey would discuss each paper."""


SIMILARITY_WEIGHT = 0.7
THRESHOLDS = (0.18, 0.26, 0.34, 0.45, 0.55)
"""Closeness from which a score of 1, 2, 3, 4, 5 is given.

Set on the titles of 60 papers of IEEE VIS against all earlier papers of the venue: at 3 stand half
of what the authors cite and one in seven of the others, at 4 a quarter and one in thirty.
"""


async def baseline_relevance(
    inputs: SurveyRelevanceInput, tools: BaselineTools
) -> SurveyRelevanceReply:
    """Closeness = 0.7 × cosine + 0.3 × share of the question's words, cut at `THRESHOLDS`; a
    paper's score depends on no other paper.
    """
    texts = [paper_text(paper.title, paper.abstract) for paper in inputs.papers]
    nearness = await Nearness(inputs.question, tools.embedder).of(texts)
    asked = specific_stems(inputs.question)
    return SurveyRelevanceReply(
        papers=[
            _entry(paper, text, similarity, asked)
            for paper, text, similarity in zip(inputs.papers, texts, nearness, strict=True)
        ]
    )


def _entry(
    paper: ShownPaper, text: str, similarity: float, asked: frozenset[str]
) -> RelevanceEntry:
    shared_share = len(asked & specific_stems(text)) / (len(asked) or 1)
    return RelevanceEntry(
        key=paper.key,
        rationale=f"similarity {similarity:.2f}, {shared_share:.0%} of the question's words",
        score=relevance_score(similarity, shared_share),
    )


def relevance_score(similarity_0_to_1: float, shared_share_0_to_1: float) -> int:
    """0 to 5 from the two signals; grows with both."""
    closeness = SIMILARITY_WEIGHT * similarity_0_to_1
    return bisect.bisect_right(
        THRESHOLDS, closeness + (1 - SIMILARITY_WEIGHT) * shared_share_0_to_1
    )


SURVEY_RELEVANCE = Step(
    name="survey_relevance",
    version=2,
    package="tasks.survey",
    input_model=SurveyRelevanceInput,
    output_model=SurveyRelevanceReply,
    baseline=baseline_relevance,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
