"""`judge_hit`: whether a reported problem matches the authors' own reason.

Baseline: similarity of the report and the reason.
"""

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind, Wording
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.reading import Words
from tasks.text.words import overlap_0_to_1


class HitInput(Noun):
    """A reported problem, and the authors' own reason."""

    problem: str
    location: str
    explanation: str
    reason: str
    wording: Wording = Wording.OWN


def _parse_yes_no(value: Any) -> Any:
    """Parse `Yes.` and `no` as models write them."""
    if isinstance(value, str):
        word = value.strip().strip(".*\"'").casefold()
        return {"yes": True, "no": False}.get(word, value)
    return value


class HitReply(Reply):
    explanation: Words = Field(description="Why, in at most three sentences.")
    hit: Annotated[bool, BeforeValidator(_parse_yes_no)] = Field(
        description="Whether both speak of the same problem."
    )


THRESHOLD_0_TO_1 = 0.28
"""Similarity from which a report counts as the authors' problem.

Weights and threshold were chosen on a quarter of the papers of WithdrarXiv-Check's test split,
against "both released judges say yes" (κ 0.31); on another quarter κ is 0.44, recall 0.62, area
under the curve 0.76.
"""
_COSINE, _WORDS, _PLACES = 0.6, 0.4, 0.1
_PLACE = bounded(
    r"\b(theorem|lemma|proposition|corollary|definition|claim|equation|eq|section|sec|table"
    r"|figure|fig|appendix|algorithm)s?\.?\s{0,9}+~?\(?\s{0,9}"
    r"([A-Z]?\.?\d{1,3}(?:\.\d{1,3})*|[A-Z]\b)",
    IGNORECASE,
)


async def baseline_hit(inputs: HitInput, tools: BaselineTools) -> HitReply:
    """Combine embedding cosine and shared words; shared places add, differing places subtract."""
    report = f"{inputs.problem} {inputs.explanation}"
    vectors = np.asarray(await tools.embedder.embed([inputs.problem, inputs.reason]))
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    report_places, reason_places = _places(f"{inputs.location} {report}"), _places(inputs.reason)
    shared_places = report_places & reason_places
    place = 0.0
    if report_places and reason_places:
        place = _PLACES if shared_places else -_PLACES
    likeness = (
        _COSINE * float(units[0] @ units[1])
        + _WORDS * overlap_0_to_1(report, inputs.reason)
        + place
    )
    likeness = min(max(likeness, 0.0), 1.0)
    scores_text = (
        f"both name {', '.join(sorted(' '.join(each) for each in shared_places))}; "
        if shared_places
        else ""
    )
    explanation = (
        f"{scores_text}likeness {likeness:.2f}, threshold {THRESHOLD_0_TO_1:.2f} (embedding, shared words,"
        " places named)"
    )
    return HitReply(explanation=explanation, hit=likeness >= THRESHOLD_0_TO_1)


def _places(text: str) -> set[tuple[str, str]]:
    short = {"eq": "equation", "sec": "section", "fig": "figure"}
    return {
        (short.get(kind.lower(), kind.lower()), number.lower())
        for kind, number in _PLACE.findall(text)
    }


JUDGE_HIT = Step(
    name="judge_hit",
    version=3,
    package="tasks.manuscripts",
    input_model=HitInput,
    output_model=HitReply,
    baseline=baseline_hit,
    kind=StepKind.JUDGEMENT,
)
