"""The concerns that decide: merged, reworded, and in the order of what they would change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.judgement.soundness import Concern, ConcernKind, ConcernSeverity
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.outcome import Provenance, Unscored
from schemas.profile import AssessmentParameters
from schemas.reasons import Reason
from tasks.assessment.material import STAGE, Material
from tasks.assessment.steps.weigh_concerns import WEIGH_CONCERNS, WeighedPoint, WeighInput
from tasks.citations.keys import Shown
from tasks.citations.settle import Settled, citation_rows, settle
from tasks.judging.step import Engine, shortened
from tasks.judging.suggestions import suggestion_about
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

SUBJECT = "plan"
_TEXTS = ("point", "why", "omission", "action", "would_change")
# Each point takes a millisecond of the event loop: a reply of thousands would hold it for seconds.
POINTS_READ_PER_CONCERN_KEPT = 4


@dataclass(frozen=True, slots=True)
class Weighed:
    """All concerns of an idea, what is suggested about those that decide, and where they cite."""

    concerns: tuple[Concern, ...]
    suggestions: tuple[Suggestion, ...] = ()
    citations: tuple[Citation, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Placed:
    """A point that can be used: its settled texts, what it quotes or misses, and its sources."""

    point: WeighedPoint
    texts: Mapping[str, Settled]
    quote: str
    omission: str
    sources: tuple[Concern, ...]


async def weigh_concerns(
    material: Material, parameters: AssessmentParameters, engine: Engine
) -> Weighed:
    """Ask which concerns decide; without an answer they stay as they are."""
    outcome = await engine.run(WEIGH_CONCERNS, _question(material, parameters))
    if isinstance(outcome, Unscored):
        failures = call_failures([outcome], STAGE, WEIGH_CONCERNS.name)
        return Weighed(material.concerns, failures=failures)
    points = outcome.value.concerns
    read = points[: POINTS_READ_PER_CONCERN_KEPT * parameters.maximum_concerns]
    unread = len(points) - len(read)
    usable = _usable(read, material)
    kept = usable[: parameters.maximum_concerns]
    beyond = len(usable) - len(kept) + unread
    note = f"{beyond} concerns beyond the limit left out, {len(kept)} kept" if beyond else None
    provenance = shortened(outcome.provenance, note)
    concerns, decisive = _merged(material.concerns, kept, provenance)
    actions = [settle(each.texts["action"].markdown, material.shown) for each in kept]
    return Weighed(
        concerns,
        tuple(
            suggestion_about(concern, rank, _keys(action, material.shown), module=STAGE)
            for rank, (concern, action) in enumerate(
                (pair for pair in zip(decisive, actions, strict=True) if pair[0].action), start=1
            )
        ),
        _citations(kept, material.shown),
        _left_out(len(read) - len(usable), len(read), unread),
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
    texts = {name: settle(getattr(point, name), material.shown) for name in _TEXTS}
    if not (texts["point"].markdown and texts["why"].markdown):
        return None
    least = LEAST_CHARACTERS_OF_A_PLAN
    if stands_in(point.quote, material.plan, least_characters=least):
        return _Placed(point, texts, point.quote.strip(), "", sources)
    if texts["omission"].markdown and not point.quote.strip():
        return _Placed(point, texts, "", texts["omission"].markdown, sources)
    if sources:  # the words are new; what they are about was checked before
        return _Placed(point, texts, sources[0].quote, sources[0].omission, sources)
    return None


def _merged(
    concerns: Sequence[Concern], kept: Sequence[_Placed], provenance: Provenance
) -> tuple[tuple[Concern, ...], tuple[Concern, ...]]:
    """All concerns, and those that decide, in their order."""
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
    """A concern that nobody raised before, under the next free identifier."""
    numbers = [int(concern.concern_id.removeprefix("c")) for concern in concerns]
    assert placed.point.kind is not None
    return Concern(
        concern_id=f"c{max(numbers, default=0) + 1}",
        rank=max((concern.rank for concern in concerns), default=0) + 1,
        kind=placed.point.kind,
        severity=placed.point.severity,
        point=placed.texts["point"].markdown,
        quote=placed.quote,
        omission=placed.omission,
        why=placed.texts["why"].markdown,
        provenance=provenance,
    )


def _reworded(concern: Concern, placed: _Placed, place: int, provenance: Provenance) -> Concern:
    action = placed.texts["action"].markdown
    return replace(
        concern,
        kind=placed.point.kind,
        severity=placed.point.severity,
        point=placed.texts["point"].markdown,
        quote=placed.quote,
        omission=placed.omission,
        why=placed.texts["why"].markdown,
        would_change=placed.texts["would_change"].markdown,
        action=action,
        effort=concern.effort if action else None,
        decision_place=place,
        removed_citation_count=sum(text.removed_citation_count for text in placed.texts.values()),
        provenance=provenance,
    )


def _keys(settled: Settled, shown: Shown) -> tuple[str, ...]:
    return tuple(shown.key_of(paper_id) for paper_id, _ in settled.cited)


def _citations(kept: Sequence[_Placed], shown: Shown) -> tuple[Citation, ...]:
    """Of all concerns together, what is suggested apart."""
    texts = {
        "concerns": [each.texts[name] for each in kept for name in _TEXTS if name != "action"],
        "suggestions": [each.texts["action"] for each in kept],
    }
    return tuple(
        row
        for field, found in texts.items()
        for row in citation_rows(
            settle("\n\n".join(text.markdown for text in found), shown),
            shown,
            module=STAGE,
            subject=SUBJECT,
            field=field,
        )
    )


def _left_out(count: int, read: int, unread: int) -> tuple[Failure, ...]:
    if not count:
        return ()
    more = f"; {unread} more were not read" if unread else ""
    detail = (
        f"{count} of {read} concerns were left out: they have no kind, severity or reason, or"
        f" neither quote the plan nor say what it lacks{more}"
    )
    return (
        Failure(
            stage=STAGE,
            subject=WEIGH_CONCERNS.name,
            reason=Reason.REPLY_UNPARSABLE,
            detail=detail,
        ),
    )
