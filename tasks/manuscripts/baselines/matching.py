"""The extractive answer to `judge_hit`: how alike the report and the authors' reason are."""

import numpy as np

from schemas.patterns import IGNORECASE, bounded
from tasks.judging.step import BaselineTools
from tasks.manuscripts.answers import HitAnswer
from tasks.manuscripts.questions import HitQuestion
from tasks.text.words import overlap_0_to_1

THRESHOLD_0_TO_1 = 0.28
"""Likeness from which on a report counts as the authors' problem.

Weights and threshold were chosen on a quarter of the papers of WithdrarXiv-Check's test split, against "both released
judges say yes" (κ 0.31); on another quarter κ is 0.44, recall 0.62, area under the curve 0.76.
"""

_COSINE, _WORDS, _PLACES = 0.6, 0.4, 0.1
_PLACE = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|equation|eq|section|sec|table|figure|fig|appendix|algorithm)s?\.?\s{0,9}+~?\(?\s{0,9}"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*|[A-Z]\b)",
    IGNORECASE,
)


async def baseline_hit(question: HitQuestion, tools: BaselineTools) -> HitAnswer:
    """Cosine of the embeddings and shared words, raised where both name one numbered place, lowered where only others are named."""
    report = f"{question.problem} {question.explanation}"
    vectors = np.asarray(await tools.embedder.embed([question.problem, question.reason]))
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    named, asked = _places(f"{question.location} {report}"), _places(question.reason)
    shared = named & asked
    place = 0.0 if not named or not asked else _PLACES if shared else -_PLACES
    likeness = _COSINE * float(units[0] @ units[1]) + _WORDS * overlap_0_to_1(report, question.reason) + place
    likeness = min(max(likeness, 0.0), 1.0)
    both = f"both name {', '.join(sorted(' '.join(each) for each in shared))}; " if shared else ""
    explanation = f"{both}likeness {likeness:.2f}, threshold {THRESHOLD_0_TO_1:.2f} (embedding, shared words, places named)"
    return HitAnswer(explanation=explanation, hit=likeness >= THRESHOLD_0_TO_1)


def _places(text: str) -> set[tuple[str, str]]:
    short = {"eq": "equation", "sec": "section", "fig": "figure"}
    return {(short.get(kind.lower(), kind.lower()), number.lower()) for kind, number in _PLACE.findall(text)}
