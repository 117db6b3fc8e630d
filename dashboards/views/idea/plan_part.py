"""Review of the plan: standing concerns, their order, and strengths."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboards.render import figures
from dashboards.render.wording import concern_kind, unscored_because
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import (
    Concern,
    ConcernSeverity,
    ConfirmedSeverity,
    ElementStanding,
    PlanElement,
    SoundnessEvaluation,
)

REASONING = (
    "Reviewer's reasoning about the plan itself: the quotes are the plan's own words, and nothing"
    " here is a claim about the literature. What retrieved papers say of a point stands below it,"
    " cited."
)
# About two sentences. Quotes no further apart are about the same passage.
SAME_PASSAGE_CHARACTERS = 300
_GRAVITY = tuple(ConcernSeverity)
_QUESTION = ConcernSeverity.QUESTION


@dataclass(frozen=True, slots=True)
class ConcernLine:
    """One concern; `heading` gives severity and topic.

    Attributes:
        effort: of the action, in words.
        lowered: whether the second reading found it less severe than the first.
        strengths: of the same passage of the plan.
        folded: concerns merged into this one.
    """

    concern: Concern
    heading: str
    effort: str
    lowered: bool
    strengths: tuple[Concern, ...] = ()
    folded: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanPart:
    """The plan's review: concerns in order of importance, questions, strengths.

    Attributes:
        verdict: why there are no concerns; empty if there are some.
        concerns: the standing ones: weighed ones by place, others by severity and rank.
        deciding_count: how many of them, from the first, the first page may show.
        questions: about single points of the plan, in its order.
        refuted: concerns that the second reading rejected.
        strengths: those that belong to no concern.
    """

    verdict: str
    note: str
    concerns: tuple[ConcernLine, ...]
    deciding_count: int
    questions: tuple[Concern, ...]
    refuted: tuple[ConcernLine, ...]
    strengths: tuple[ConcernLine, ...]
    stated: tuple[PlanElement, ...]
    unstated: tuple[PlanElement, ...]


def plan_part(evaluation: IdeaEvaluation) -> PlanPart | None:
    """Order the concerns about the plan; None: the plan was not reviewed.

    Without a review of the plan, the concerns are those of the assessment.
    """
    soundness = evaluation.soundness
    review = soundness.plan_review if soundness is not None else None
    if review is None and not evaluation.concerns:
        return None
    why_unscored = review.unscored_reason if review is not None else None
    deciding, others = standing_concerns(evaluation.concerns)
    strengths = sorted(
        (one for one in evaluation.concerns if one.severity is None), key=lambda one: one.rank
    )
    concerns = [*deciding, *others]
    strengths_of = _match_strengths(
        concerns, strengths, " ".join(evaluation.idea.english_text.split()).casefold()
    )
    placed_ids = {one.concern_id for group in strengths_of.values() for one in group}
    questions = [one for one in evaluation.concerns if one.severity is _QUESTION and _stands(one)]
    open_questions = [one for one in questions if one.decision_place is None]
    return PlanPart(
        verdict=unscored_because(why_unscored) if why_unscored is not None else "",
        note=_note(review.dropped_point_count if review is not None else 0),
        concerns=tuple(
            _line(
                one,
                strengths_of.get(one.concern_id, ()),
                [each for each in evaluation.concerns if each.folded_into == one.concern_id],
            )
            for one in concerns
        ),
        deciding_count=len(deciding),
        questions=tuple(sorted(open_questions, key=lambda one: one.rank)),
        refuted=tuple(
            _line(one)
            for one in evaluation.concerns
            if one.confirmed_severity is ConfirmedSeverity.REFUTED and one.folded_into is None
        ),
        strengths=tuple(_line(one) for one in strengths if one.concern_id not in placed_ids),
        stated=_elements(soundness, ElementStanding.STATED),
        unstated=_elements(soundness, ElementStanding.UNSTATED),
    )


def standing_concerns(concerns: Iterable[Concern]) -> tuple[list[Concern], list[Concern]]:
    """Return the deciding concerns, most important first, then the other standing ones.

    Without weights, all standing concerns may decide. A confirmed fatal concern always does, since
    the verdict rests on it. Refuted and merged concerns and plain questions do not stand.
    """
    standing = [
        one
        for one in concerns
        if _stands(one)
        and one.severity is not None
        and (one.severity is not _QUESTION or one.decision_place is not None)
    ]
    standing.sort(key=lambda one: (_GRAVITY.index(severity_of(one) or _QUESTION), one.rank))
    if all(one.decision_place is None for one in standing):
        return standing, []
    fatal = [one for one in standing if _is_fatal(one) and one.decision_place is None]
    ranked_concerns = sorted(
        (one for one in standing if one.decision_place is not None),
        key=lambda one: one.decision_place or 0,
    )
    deciding = [*fatal, *ranked_concerns]
    return deciding, [one for one in standing if one not in deciding]


def confirmed_fatal(concerns: Iterable[Concern]) -> list[Concern]:
    """Return the concerns that the second reading found fatal too."""
    return [one for one in concerns if _stands(one) and _is_fatal(one)]


def severity_of(concern: Concern) -> ConcernSeverity | None:
    """Return the severity of a concern: by the second reading if there was one."""
    if concern.confirmed_severity in (None, ConfirmedSeverity.REFUTED):
        return concern.severity
    return ConcernSeverity(concern.confirmed_severity)


def _is_fatal(concern: Concern) -> bool:
    return concern.confirmed_severity is ConfirmedSeverity.FATAL


def _stands(concern: Concern) -> bool:
    is_refuted = concern.confirmed_severity is ConfirmedSeverity.REFUTED
    return not is_refuted and concern.folded_into is None


def _line(
    concern: Concern, strengths: Sequence[Concern] = (), folded_concerns: Sequence[Concern] = ()
) -> ConcernLine:
    about, severity = concern_kind(concern.kind), severity_of(concern)
    first = concern.severity
    return ConcernLine(
        concern=concern,
        heading=f"{severity.capitalize()}, {about}" if severity else "Strength",
        effort=f"takes {concern.effort}" if concern.effort else "",
        lowered=(
            severity is not None
            and first is not None
            and _GRAVITY.index(severity) > _GRAVITY.index(first)
        ),
        strengths=tuple(strengths),
        folded=tuple(folded_concerns),
    )


def _match_strengths(
    concerns: Sequence[Concern], strengths: Sequence[Concern], plan: str
) -> dict[str, list[Concern]]:
    """Return strengths by the concern whose quote is nearest in the plan."""
    strengths_of: dict[str, list[Concern]] = {}
    spans = [(span, one) for one in concerns if (span := _span(one.quote, plan)) is not None]
    for strength in strengths:
        span = _span(strength.quote, plan)
        if span is None or not spans:
            continue
        distance, nearest_concern = min(
            ((_distance(span, other), one) for other, one in spans), key=lambda pair: pair[0]
        )
        if distance <= SAME_PASSAGE_CHARACTERS:
            strengths_of.setdefault(nearest_concern.concern_id, []).append(strength)
    return strengths_of


def _span(quote: str, plan: str) -> tuple[int, int] | None:
    words = " ".join(quote.split()).casefold()
    start = plan.find(words) if words else -1
    return (start, start + len(words)) if start >= 0 else None


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Return the characters between two spans; 0 if they overlap."""
    return max(0, max(one[0], other[0]) - min(one[1], other[1]))


def _note(dropped_count: int) -> str:
    if not dropped_count:
        return ""
    points = figures.plural(dropped_count, "point")
    return (
        f"{points} of the reply left out: the words quoted do not stand in the plan, or a part is"
        " missing."
    )


def _elements(
    soundness: SoundnessEvaluation | None, standing: ElementStanding
) -> tuple[PlanElement, ...]:
    elements = soundness.elements if soundness is not None else ()
    return tuple(element for element in elements if element.standing is standing)
