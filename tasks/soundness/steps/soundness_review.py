"""`soundness_review`: what the evidence says for and against a method, what to change, and a score.

Baseline: quoted outcomes for and against, and a score from their balance; it suggests nothing.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from schemas.soundness import ConcernSeverity
from tasks.judging.reply_fields import Key, Prose, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.judging.suggestions import ProposedSuggestions
from tasks.soundness.steps.standings import EvidenceShown, Standing, standings
from tasks.soundness.steps.wording import SILENT, none_of, quote
from tasks.text.signs import Reading
from tasks.text.wording import joined


class ConcernShown(Noun):
    """One point of the review of the plan, under the key that the reply names it by."""

    key: str = Field(description="C1, C2, …")
    severity: ConcernSeverity
    point: str


class ReviewInput(Noun):
    """Input of `soundness_review`."""

    idea: str
    method: str
    concerns: tuple[ConcernShown, ...] = Field(
        default=(), description="About the whole plan, strengths left out; empty without a review."
    )
    evidence: tuple[EvidenceShown, ...] = Field(
        min_length=1, description="Newest first; of the same date, best passage first."
    )
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each text; None: as many as it needs."
    )


class Bearing(StrEnum):
    """Whether evidence makes a concern weightier or lighter."""

    SUPPORTS = "supports"
    WEAKENS = "weakens"


class ConcernBearing(Reply):
    """What the evidence says about one concern; None: a word outside the list."""

    concern: Key = Field(description="The key of the concern, such as C3.")
    bearing: Annotated[Bearing | None, word_of(Bearing)]
    reason: Prose = Field(description="The finding, with keys such as [P3].")


class ReviewReply(Reply):
    """Reply to `soundness_review`. Statements about the literature carry keys such as [P3]."""

    support: Prose
    contradictions: Prose
    suggestions: ProposedSuggestions = Field(
        default=(), description="What to change, the most useful first."
    )
    concerns: tuple[ConcernBearing, ...] = ()
    open_questions: Prose = Field(default="", description="The reviewer's own reasoning.")
    score: float = Field(
        ge=0, le=10, description="0 the method fails, 5 mixed or thin evidence, 10 established."
    )


_QUOTED = 5
_LISTED = 3
_PRIOR_WEIGHT = 0.8
_PRIOR_0_TO_1 = 0.35
_FAILURE_WEIGHT = 2.2
_LIMIT_OF_OTHERS_WEIGHT = 0.7
_SILENT_WEIGHT = 0.25


async def baseline_review(inputs: ReviewInput, _tools: BaselineTools) -> ReviewReply | NoAnswer:
    """Quote what the evidence reports, strongest first, each sentence with its key."""
    found = standings(inputs.method, inputs.evidence)
    if not found:
        return NoAnswer(
            Reason.NO_EVIDENCE, "none of the papers shown shares wording with the method"
        )
    return ReviewReply(
        support=_support(found),
        contradictions=_contradictions(found),
        score=soundness_score(found),
    )


def soundness_score(found: list[Standing]) -> float:
    """Soundness 0 to 10, one decimal: the mean of a Beta distribution that starts doubtful and is
    moved by close evidence.

    10 · (S + 0.35 · 0.8) / (S + C + 0.8). S adds up the closeness (0 to 1) of each paper that
    reports a favourable outcome, and a quarter of it for a paper that does something alike and
    states no outcome. C adds up the closeness of each paper that reports a failure, times 2.2
    because failures are published less often than successes, or a limit of comparable work, times
    0.7 because such sentences often motivate a remedy. Without evidence the score would be 3.5:
    what nobody is known to have made work is more likely to disappoint. Wording is all it knows: it
    is a baseline.
    """
    support = sum(standing.closeness_0_to_1 * _for_weight(standing) for standing in found)
    against = sum(
        standing.closeness_0_to_1 * _against_weight(standing.unfavourable)
        for standing in found
        if standing.unfavourable
    )
    return round(
        10 * (support + _PRIOR_0_TO_1 * _PRIOR_WEIGHT) / (support + against + _PRIOR_WEIGHT), 1
    )


def _for_weight(standing: Standing) -> float:
    if standing.favourable is not None:
        return 1.0
    return _SILENT_WEIGHT if standing.unfavourable is None else 0.0


def _against_weight(finding: Reading | None) -> float:
    return _LIMIT_OF_OTHERS_WEIGHT if finding is not None and finding.of_others else _FAILURE_WEIGHT


def _support(found: list[Standing]) -> str:
    favourable = [standing for standing in found if standing.favourable][:_QUOTED]
    neutral = [
        standing for standing in found if not standing.favourable and not standing.unfavourable
    ]
    told = [
        _favourable_sentence(standing, place, favourable[0])
        for place, standing in enumerate(favourable)
    ]
    if neutral:
        keys = joined([f"[{standing.key}]" for standing in neutral[:_LISTED]])
        told.append(
            f"{keys} {'works' if len(neutral[:_LISTED]) == 1 else 'work'} on something related"
            f" {SILENT}"
        )
    return (
        " ".join(told)
        or f"{none_of(len(found), 'reports')} success with something close to this method."
    )


def _favourable_sentence(standing: Standing, place: int, first: Standing) -> str:
    assert standing.favourable is not None
    said = quote(standing.favourable.sentence)
    if place == 0:
        return (
            f"The closest favourable outcome is in [{standing.key}], which shares"
            f" {joined(standing.shared)} with this plan: {said}."
        )
    return (
        f"{_when(standing, first, place)}[{standing.key}], on {joined(standing.shared)},"
        f" {_VERBS[place % len(_VERBS)]}: {said}."
    )


_VERBS = ("reports", "adds", "states", "writes", "finds")


def _when(standing: Standing, first: Standing, place: int) -> str:
    """Set a paper in time against the closest one, once in each direction it matters."""
    if (
        place > 2
        or "undated" in (standing.published, first.published)
        or standing.published[:4] == first.published[:4]
    ):
        return ""
    return "More recently, " if standing.published > first.published else "Earlier, "


def _contradictions(found: list[Standing]) -> str:
    unfavourable = [standing for standing in found if standing.unfavourable]
    unfavourable.sort(
        key=lambda standing: -standing.closeness_0_to_1 * _against_weight(standing.unfavourable)
    )
    told = [
        _unfavourable_sentence(standing, place)
        for place, standing in enumerate(unfavourable[:_QUOTED])
    ]
    return (
        " ".join(told)
        or f"{none_of(len(found), 'reports')} a failure or limit of something close to this method."
    )


def _unfavourable_sentence(standing: Standing, place: int) -> str:
    assert standing.unfavourable is not None
    said = quote(standing.unfavourable.sentence)
    about = joined(standing.shared)
    if standing.unfavourable.of_others:
        openings = (
            f"On {about}, [{standing.key}] names a limit of comparable work",
            f"[{standing.key}] sees a weakness around {about}",
        )
    else:
        openings = (
            f"Working on {about}, [{standing.key}] reports an unfavourable outcome",
            f"[{standing.key}], on {about}, reports a failure or limit",
        )
    return f"{openings[place % 2]}: {said}."


SOUNDNESS_REVIEW = Step(
    name="soundness_review",
    version=5,
    package="tasks.soundness",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
