"""The review of the plan itself as a reader meets it: gravest concerns first, strengths, what it
rests on.
"""

from dataclasses import dataclass

from dashboards.reports import figures
from dashboards.reports.wording import concern_kind, unscored
from schemas.soundness import (
    Concern,
    ConcernSeverity,
    ElementStanding,
    PlanElement,
    SoundnessEvaluation,
)

REASONING = (
    "Reviewer's reasoning about the plan itself: the quotes are the plan's own words, and nothing"
    " here is a claim about the literature. What retrieved papers say of a point stands below it,"
    " cited."
)
_GRAVITY = tuple(ConcernSeverity)
_QUESTION = ConcernSeverity.QUESTION


@dataclass(frozen=True, slots=True)
class ConcernLine:
    """One point; `heading` says how grave it is and what it is about,
    `effort` is ready to print.
    """

    concern: Concern
    heading: str
    effort: str


@dataclass(frozen=True, slots=True)
class PlanPart:
    """The plan's review: flaws, questions in the order of the plan, strengths.

    `verdict` is empty where there are concerns, else says why there are none.
    """

    verdict: str
    note: str
    concerns: tuple[ConcernLine, ...]
    questions: tuple[Concern, ...]
    strengths: tuple[ConcernLine, ...]
    stated: tuple[PlanElement, ...]
    unstated: tuple[PlanElement, ...]


def plan_part(soundness: SoundnessEvaluation | None) -> PlanPart | None:
    """None: soundness was not asked for, or an earlier version judged, which had no review of the
    plan.
    """
    if soundness is None or soundness.plan_review is None:
        return None
    review = soundness.plan_review
    lines = [_line(concern) for concern in sorted(soundness.concerns, key=_gravest_first)]
    verdict = ""
    if review.unscored_reason is not None:
        verdict = unscored(review.unscored_reason)
    return PlanPart(
        verdict=verdict,
        note=_note(review.dropped_point_count),
        concerns=tuple(line for line in lines if line.concern.severity not in (None, _QUESTION)),
        questions=tuple(one for one in soundness.concerns if one.severity is _QUESTION),
        strengths=tuple(line for line in lines if line.concern.severity is None),
        stated=_of(soundness, ElementStanding.STATED),
        unstated=_of(soundness, ElementStanding.UNSTATED),
    )


def _gravest_first(concern: Concern) -> tuple[int, int]:
    severity = concern.severity
    return (_GRAVITY.index(severity) if severity else len(_GRAVITY), concern.rank)


def _line(concern: Concern) -> ConcernLine:
    about = concern_kind(concern.kind)
    return ConcernLine(
        concern=concern,
        heading=f"{concern.severity.capitalize()}, {about}" if concern.severity else "Strength",
        effort=f"takes {concern.effort}" if concern.effort else "",
    )


def _note(dropped: int) -> str:
    if not dropped:
        return ""
    points = figures.counted(dropped, "point")
    return (
        f"{points} of the reply left out: the words quoted do not stand in the plan, or a part is"
        " missing."
    )


def _of(soundness: SoundnessEvaluation, standing: ElementStanding) -> tuple[PlanElement, ...]:
    return tuple(element for element in soundness.elements if element.standing is standing)
