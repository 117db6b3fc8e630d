"""The concerns that decide: merged, reworded, in the order of what they would change; and challenged."""

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
    Cited,
    SettledTexts,
    keys_of,
    left_out,
    settle_texts,
    whole_citations,
)
from tasks.judging.reply_fields import by_key
from tasks.judging.step import Engine, shortened
from tasks.judging.suggestions import suggestion_about
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

SUBJECT = "plan"
_TEXTS = ("point", "why", "omission", "action", "would_change")
# Each point takes a millisecond of the event loop: a reply of thousands would hold it for seconds.
POINTS_READ_PER_CONCERN_KEPT = 4


@dataclass(frozen=True, slots=True)
class _Placed:
    """A point that can be used: its settled texts, what it quotes or misses, and its sources."""

    point: WeighedPoint
    texts: SettledTexts
    quote: str
    omission: str
    sources: tuple[Concern, ...]


async def weigh_concerns(
    material: Material, parameters: AssessmentParameters, engine: Engine
) -> Cited[tuple[Concern, ...]]:
    """Ask which concerns decide; without an answer they stay as they are."""
    outcome = await engine.run(WEIGH_CONCERNS, _question(material, parameters))
    if isinstance(outcome, Unscored):
        failures = call_failures([outcome], STAGE, WEIGH_CONCERNS.name)
        return Cited(material.concerns, failures=failures)
    points = outcome.value.concerns
    read = points[: POINTS_READ_PER_CONCERN_KEPT * parameters.maximum_concerns]
    unread = len(points) - len(read)
    usable = _usable(read, material)
    kept = usable[: parameters.maximum_concerns]
    beyond = len(usable) - len(kept) + unread
    note = f"{beyond} concerns beyond the limit left out, {len(kept)} kept" if beyond else None
    provenance = shortened(outcome.provenance, note)
    concerns, decisive = _merged(material.concerns, kept, provenance)
    actions = [settle(each.texts["action"], material.shown) for each in kept]
    acted_on = [pair for pair in zip(decisive, actions, strict=True) if pair[0].action]
    dropped = len(read) - len(usable)
    more = f"; {unread} more were not read" if unread else ""
    detail = (
        f"{dropped} of {len(read)} concerns were left out: they have no kind, severity or reason,"
        f" or neither quote the plan nor say what it lacks{more}"
    )
    return Cited(
        concerns,
        citations=_citations(kept, material.shown),
        suggestions=tuple(
            suggestion_about(concern, rank, keys_of(action, material.shown), module=STAGE)
            for rank, (concern, action) in enumerate(acted_on, start=1)
        ),
        failures=left_out(STAGE, WEIGH_CONCERNS.name, detail, dropped),
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


def _usable(points: Sequence[WeighedPoint], material: Material) -> list[_Placed]:
    """Points that hold; of a source that two of them name, the first has it."""
    free = {
        concern.concern_id.casefold(): concern
        for concern in material.concerns
        if concern.kind is not ConcernKind.STRENGTH
    }
    usable = []
    for point in points:
        keys = [key.casefold() for key in point.sources]
        sources = tuple(free[key] for key in dict.fromkeys(keys) if key in free)
        placed = _placed(point, sources, material)
        if placed is not None:
            usable.append(placed)
            for source in sources:
                del free[source.concern_id.casefold()]
    return usable


def _placed(
    point: WeighedPoint, sources: tuple[Concern, ...], material: Material
) -> _Placed | None:
    if point.kind in (None, ConcernKind.STRENGTH):
        return None
    if point.severity in (None, ConcernSeverity.QUESTION):
        return None
    texts = settle_texts(point, _TEXTS, material.shown)
    if not (texts["point"] and texts["why"]):
        return None
    least = LEAST_CHARACTERS_OF_A_PLAN
    if stands_in(point.quote, material.plan, least_characters=least):
        return _Placed(point, texts, point.quote.strip(), "", sources)
    if texts["omission"] and not point.quote.strip():
        return _Placed(point, texts, "", texts["omission"], sources)
    if sources:  # the words are new; what they are about was checked before
        return _Placed(point, texts, sources[0].quote, sources[0].omission, sources)
    return None


def _merged(
    concerns: Sequence[Concern], kept: Sequence[_Placed], provenance: Provenance
) -> tuple[tuple[Concern, ...], tuple[Concern, ...]]:
    by_id = {concern.concern_id: concern for concern in concerns}
    decisive = []
    for place, each in enumerate(kept, start=1):
        first = each.sources[0] if each.sources else _new(list(by_id.values()), each, provenance)
        concern = _reworded(first, each, place, provenance)
        by_id[concern.concern_id] = concern
        decisive.append(concern)
        for source in each.sources[1:]:
            by_id[source.concern_id] = replace(source, folded_into=concern.concern_id)
    return tuple(by_id.values()), tuple(decisive)


def _new(concerns: Sequence[Concern], placed: _Placed, provenance: Provenance) -> Concern:
    numbers = [int(concern.concern_id.removeprefix("c")) for concern in concerns]
    assert placed.point.kind is not None
    return Concern(
        concern_id=f"c{max(numbers, default=0) + 1}",
        rank=max((concern.rank for concern in concerns), default=0) + 1,
        kind=placed.point.kind,
        severity=placed.point.severity,
        point=placed.texts["point"],
        quote=placed.quote,
        omission=placed.omission,
        why=placed.texts["why"],
        provenance=provenance,
    )


def _reworded(concern: Concern, placed: _Placed, place: int, provenance: Provenance) -> Concern:
    texts = placed.texts
    return replace(
        concern,
        kind=placed.point.kind,
        severity=placed.point.severity,
        point=texts["point"],
        quote=placed.quote,
        omission=placed.omission,
        why=texts["why"],
        would_change=texts["would_change"],
        action=texts["action"],
        effort=concern.effort if texts["action"] else None,
        decision_place=place,
        removed_citation_count=texts.removed_citation_count,
        provenance=provenance,
    )


def _citations(kept: Sequence[_Placed], shown: Shown) -> tuple[Citation, ...]:
    """Of all concerns together, what is suggested apart."""
    fields = {
        "concerns": [each.texts[name] for each in kept for name in _TEXTS if name != "action"],
        "suggestions": [each.texts["action"] for each in kept],
    }
    return tuple(
        row
        for field, texts in fields.items()
        for row in whole_citations(texts, shown, module=STAGE, subject=SUBJECT, field=field)
    )


async def challenge_concerns(
    material: Material, concerns: tuple[Concern, ...], limit: int, engine: Engine
) -> Cited[tuple[Concern, ...]]:
    """Ask for the defense against each concern that decides and each other fatal one. The reader
    sees no severity.

    Args:
        limit: of concerns, where none was weighed.
    """
    challenged = deciding(concerns, limit)
    if not challenged:
        return Cited(concerns)
    question = ChallengeInput(
        idea=material.plan,
        concerns=tuple(material.concern_shown(each) for each in challenged),
        works=material.works,
    )
    outcome = await engine.run(CHALLENGE_CONCERNS, question)
    if isinstance(outcome, Unscored):
        return Cited(concerns, failures=call_failures([outcome], STAGE, CHALLENGE_CONCERNS.name))
    asked = {concern.concern_id for concern in challenged}
    answers = by_key([entry for entry in outcome.value.concerns if entry.remains], asked)
    texts = {key: settle(entry.defense, material.shown) for key, entry in answers.items()}
    # The settled text counts: nothing is left of a defense that only names an unknown key.
    texts = {key: text for key, text in texts.items() if text.markdown}
    unanswered = len(asked) - len(texts)
    detail = (
        f"of {unanswered} of {len(asked)} concerns the reply does not say what remains, or says two"
        " things: not challenged"
    )
    return Cited(
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
            material.shown,
            module=STAGE,
            subject=SUBJECT,
            field="defense",
        ),
        failures=left_out(STAGE, CHALLENGE_CONCERNS.name, detail, unanswered),
    )
