"""The extractive answer to `judge_hit`: how alike the report and the authors' reason are."""

import re

import numpy as np

from tasks.judging.step import BaselineTools
from tasks.judging.text import overlap_0_to_1
from tasks.manuscripts.answers import HitAnswer
from tasks.manuscripts.questions import HitQuestion

THRESHOLD_0_TO_1 = 0.5
"""Likeness from which on a report counts as the authors' problem."""

_PLACE = re.compile(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|equation|eq|section|sec|table|figure|fig|appendix|algorithm)s?\.?\s*~?\(?\s*"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*|[A-Z]\b)",
    re.IGNORECASE,
)
_SAME_PLACE, _OTHER_PLACE = 0.15, -0.15


async def baseline_hit(question: HitQuestion, tools: BaselineTools) -> HitAnswer:
    """Cosine of the embeddings and shared words, raised where both name one numbered place, lowered where only others are named."""
    report = f"{question.problem} {question.explanation}"
    vectors = np.asarray(await tools.embedder.embed([report, question.problem, question.reason]))
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosine = float(max(units[0] @ units[2], units[1] @ units[2]))
    named, asked = _places(f"{question.location} {report}"), _places(question.reason)
    bonus = 0.0 if not named or not asked else _SAME_PLACE if named & asked else _OTHER_PLACE
    likeness = min(max(0.8 * cosine + 0.2 * overlap_0_to_1(report, question.reason) + bonus, 0.0), 1.0)
    shared = f"both name {', '.join(sorted(' '.join(place) for place in named & asked))}; " if named & asked else ""
    explanation = f"{shared}likeness {likeness:.2f}, threshold {THRESHOLD_0_TO_1:.2f} (embedding, shared words, places named)"
    return HitAnswer(explanation=explanation, hit=likeness >= THRESHOLD_0_TO_1)


def _places(text: str) -> set[tuple[str, str]]:
    short = {"eq": "equation", "sec": "section", "fig": "figure"}
    return {(short.get(kind.lower(), kind.lower()), number.lower()) for kind, number in _PLACE.findall(text)}
