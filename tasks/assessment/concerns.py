"""Decisive concerns: selection, rewording, ranking by impact, and challenge."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import call_failures
from schemas.judgement.soundness import Concern, ConcernKind, ConcernSeverity, deciding
from schemas.literature.citation import Citation
from schemas.outcome import Provenance, Unscored
from schemas.profile import AssessmentParameters
from tasks.assessment.material import STAGE, Material
from tasks.assessment.steps import (
    CHALLENGE_CONCERNS,
    WEIGH_CONCERNS,
    ChallengeInput,
    WeighedPoint,
    WeighInput,
)
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.findings import (
    CitedResult,
    SettledTexts,
    keys_of,
    omission_failures,
    settle_texts,
    whole_citations,
)
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine, with_shortening
from tasks.judging.suggestions import suggestion_about
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

SUBJECT = "plan"
_TEXTS = ("point", "why", "omission", "action", "would_change")
# Each point takes a millisecond of the event loop: a reply of thousands would block it for seconds.
POINTS_READ_PER_CONCERN_KEPT = 4


@dataclass(frozen=True, slots=True)
class _UsablePoint:
    """A usable point with settled texts, quote or omission, and source concerns."""

    point: WeighedPoint
    texts: SettledTexts
    quote: str
    omission: str
    sources: tuple[Concern, ...]


async def weigh_concerns(
    material: Material, parameters: AssessmentParameters, engine: Engine
) -> CitedResult[tuple[Concern, ...]]:
    """Ask for the decisive concerns; without an answer the concerns stay unchanged."""
    outcome = await engine.run(WEIGH_CONCERNS, _question(material, parameters))
    if isinstance(outcome, Unscored):
        failures = call_failures([outcome], STAGE, WEIGH_CONCERNS.name)
        return CitedResult(material.concerns, failures=failures)
    points = outcome.value.concerns
    points_read = points[: POINTS_READ_PER_CONCERN_KEPT * parameters.maximum_concerns]
    unread_count = len(points) - len(points_read)
    usable = _usable(points_read, material)
    kept_points = usable[: parameters.maximum_concerns]
    beyond_count = len(usable) - len(kept_points) + unread_count
    note = (
        f"{beyond_count} concerns beyond the limit left out, {len(kept_points)} kept"
        if beyond_count
        else None
    )
    provenance = with_shortening(outcome.provenance, note)
    concerns, decisive = _merge(material.concerns, kept_points, provenance)
    actions = [settle(each.texts["action"], material.prompt_papers) for each in kept_points]
    acted_on = [pair for pair in zip(decisive, actions, strict=True) if pair[0].action]
    dropped_count = len(points_read) - len(usable)
    more = f"; {unread_count} more were not read" if unread_count else ""
    detail = (
        f"{dropped_count} of {len(points_read)} concerns were left out: they have no kind, severity or reason,"
        f" or neither quote the plan nor say what it lacks{more}"
    )
    return CitedResult(
        concerns,
        citations=_citations(kept_points, material.prompt_papers),
        suggestions=tuple(
            suggestion_about(concern, rank, keys_of(action, material.prompt_papers), module=STAGE)
            for rank, (concern, action) in enumerate(acted_on, start=1)
        ),
        failures=omission_failures(STAGE, WEIGH_CONCERNS.name, detail, dropped_count),
    )


def _question(material: Material, parameters: AssessmentParameters) -> WeighInput:
    def shown(concern: Concern) -> bool:
        return concern.severity not in (None, ConcernSeverity.QUESTION)

    return WeighInput(
        idea=material.plan,
        maximum_concerns=parameters.maximum_concerns,
        concerns=tuple(material.concern_shown(each) for each in material.concerns if shown(each)),
        questions=tuple(
            material.concern_shown(each)
            for each in material.concerns
            if each.severity is ConcernSeverity.QUESTION
        ),
        strengths=material.strengths,
        methods=material.methods,
        unjudged_methods=material.unjudged_methods,
        works=material.works,
        unknown=material.unknown_in_words,
        measured=material.measured,
    )


def _usable(points: Sequence[WeighedPoint], material: Material) -> list[_UsablePoint]:
    """Return usable points; a source of two points belongs to the first."""
    free = {
        concern.concern_id.casefold(): concern
        for concern in material.concerns
        if concern.kind is not ConcernKind.STRENGTH
    }
    usable = []
    for point in points:
        keys = [key.casefold() for key in point.sources]
        sources = tuple(free[key] for key in dict.fromkeys(keys) if key in free)
        usable_point = _check_point(point, sources, material)
        if usable_point is not None:
            usable.append(usable_point)
            for source in sources:
                del free[source.concern_id.casefold()]
    return usable


def _check_point(
    point: WeighedPoint, sources: tuple[Concern, ...], material: Material
) -> _UsablePoint | None:
    if point.kind in (None, ConcernKind.STRENGTH):
        return None
    if point.severity in (None, ConcernSeverity.QUESTION):
        return None
    texts = settle_texts(point, _TEXTS, material.prompt_papers)
    if not (texts["point"] and texts["why"]):
        return None
    least_characters = LEAST_CHARACTERS_OF_A_PLAN
    if stands_in(point.quote, material.plan, least_characters=least_characters):
        return _UsablePoint(point, texts, point.quote.strip(), "", sources)
    if texts["omission"] and not point.quote.strip():
        return _UsablePoint(point, texts, "", texts["omission"], sources)
    if sources:  # the point is reworded, and the quote of its source was verified before
        return _UsablePoint(point, texts, sources[0].quote, sources[0].omission, sources)
    return None


def _merge(
    concerns: Sequence[Concern], points: Sequence[_UsablePoint], provenance: Provenance
) -> tuple[tuple[Concern, ...], tuple[Concern, ...]]:
    by_id = {concern.concern_id: concern for concern in concerns}
    decisive = []
    for place, each in enumerate(points, start=1):
        first = (
            each.sources[0]
            if each.sources
            else _new_concern(list(by_id.values()), each, provenance)
        )
        concern = _reword(first, each, place, provenance)
        by_id[concern.concern_id] = concern
        decisive.append(concern)
        for source in each.sources[1:]:
            by_id[source.concern_id] = replace(source, folded_into=concern.concern_id)
    return tuple(by_id.values()), tuple(decisive)


def _new_concern(
    concerns: Sequence[Concern], point: _UsablePoint, provenance: Provenance
) -> Concern:
    numbers = [int(concern.concern_id.removeprefix("c")) for concern in concerns]
    assert point.point.kind is not None
    return Concern(
        concern_id=f"c{max(numbers, default=0) + 1}",
        rank=max((concern.rank for concern in concerns), default=0) + 1,
        kind=point.point.kind,
        severity=point.point.severity,
        point=point.texts["point"],
        quote=point.quote,
        omission=point.omission,
        why=point.texts["why"],
        provenance=provenance,
    )


def _reword(concern: Concern, point: _UsablePoint, place: int, provenance: Provenance) -> Concern:
    texts = point.texts
    return replace(
        concern,
        kind=point.point.kind,
        severity=point.point.severity,
        point=texts["point"],
        quote=point.quote,
        omission=point.omission,
        why=texts["why"],
        would_change=texts["would_change"],
        action=texts["action"],
        effort=concern.effort if texts["action"] else None,
        decision_place=place,
        removed_citation_count=texts.removed_citation_count,
        provenance=provenance,
    )


def _citations(points: Sequence[_UsablePoint], prompt_papers: Shown) -> tuple[Citation, ...]:
    """Return the citations of all concerns, with separate ones for suggested actions."""
    fields = {
        "concerns": [each.texts[name] for each in points for name in _TEXTS if name != "action"],
        "suggestions": [each.texts["action"] for each in points],
    }
    return tuple(
        row
        for field, texts in fields.items()
        for row in whole_citations(texts, prompt_papers, module=STAGE, subject=SUBJECT, field=field)
    )


async def challenge_concerns(
    material: Material, concerns: tuple[Concern, ...], limit: int, engine: Engine
) -> CitedResult[tuple[Concern, ...]]:
    """Ask for a defense against each decisive and each fatal concern.

    No severity is in the prompt.

    Args:
        limit: maximum number of concerns, if none was weighed.
    """
    decisive_concerns = deciding(concerns, limit)
    if not decisive_concerns:
        return CitedResult(concerns)
    question = ChallengeInput(
        idea=material.plan,
        concerns=tuple(material.concern_shown(each) for each in decisive_concerns),
        works=material.works,
    )
    outcome = await engine.run(CHALLENGE_CONCERNS, question)
    if isinstance(outcome, Unscored):
        return CitedResult(
            concerns, failures=call_failures([outcome], STAGE, CHALLENGE_CONCERNS.name)
        )
    challenged_ids = {concern.concern_id for concern in decisive_concerns}
    answers = by_key([entry for entry in outcome.value.concerns if entry.remains], challenged_ids)
    texts = {key: settle(entry.defense, material.prompt_papers) for key, entry in answers.items()}
    # A defense that only cites an unknown key is empty after settling.
    texts = {key: text for key, text in texts.items() if text.markdown}
    unanswered_count = len(challenged_ids) - len(texts)
    detail = (
        f"of {unanswered_count} of {len(challenged_ids)} concerns the reply does not say what remains, or says two"
        " things: not challenged"
    )
    return CitedResult(
        tuple(
            replace(
                concern,
                defense=texts[concern.concern_id].markdown,
                confirmed_severity=answers[concern.concern_id].remains,
                removed_citation_count=concern.removed_citation_count
                + texts[concern.concern_id].removed_citation_count,
            )
            if concern.concern_id in texts
            else concern
            for concern in concerns
        ),
        citations=whole_citations(
            [text.markdown for text in texts.values()],
            material.prompt_papers,
            module=STAGE,
            subject=SUBJECT,
            field="defense",
        ),
        failures=omission_failures(STAGE, CHALLENGE_CONCERNS.name, detail, unanswered_count),
    )
