"""Extractive answer to `soundness_review`: quoted outcomes for and against, suggestions, and a score from their balance."""

from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.soundness.answers import ReviewReply
from tasks.soundness.baselines.findings import Finding, Standing, standings
from tasks.soundness.baselines.suggesting import suggestions
from tasks.soundness.baselines.wording import SILENT, listed, none_of, quote
from tasks.soundness.questions import ReviewInput

_QUOTED = 5
_LISTED = 3
_PRIOR_WEIGHT = 0.8
_PRIOR_0_TO_1 = 0.35
_FAILURE_WEIGHT = 2.2
_LIMIT_OF_OTHERS_WEIGHT = 0.7
_SILENT_WEIGHT = 0.25


async def review_method(inputs: ReviewInput, _tools: BaselineTools) -> ReviewReply | NoAnswer:
    """Quote what the evidence reports, strongest first, each sentence with its key."""
    found = standings(inputs)
    if not found:
        return NoAnswer(Reason.NO_EVIDENCE, "none of the papers shown shares wording with the method")
    return ReviewReply(
        support=_support(found),
        contradictions=_contradictions(found),
        suggestions=suggestions(inputs, found),
        score=soundness_score(found),
    )


def soundness_score(found: list[Standing]) -> float:
    """Soundness 0 to 10, one decimal: the mean of a Beta distribution that starts doubtful and is moved by close evidence.

    10 · (S + 0.35 · 0.8) / (S + C + 0.8). S adds up the closeness (0 to 1) of each paper that reports a favourable outcome, and a quarter
    of it for a paper that does something alike and states no outcome. C adds up the closeness of each paper that reports a failure,
    times 2.2 because failures are published less often than successes, or a limit of comparable work, times 0.7 because such sentences
    often motivate a remedy. Without evidence the score would be 3.5: what nobody is known to have made work is more likely to
    disappoint. Wording is all it knows: it is a baseline.
    """
    support = sum(standing.closeness_0_to_1 * _for_weight(standing) for standing in found)
    against = sum(standing.closeness_0_to_1 * _against_weight(standing.unfavourable) for standing in found if standing.unfavourable)
    return round(10 * (support + _PRIOR_0_TO_1 * _PRIOR_WEIGHT) / (support + against + _PRIOR_WEIGHT), 1)


def _for_weight(standing: Standing) -> float:
    if standing.favourable is not None:
        return 1.0
    return _SILENT_WEIGHT if standing.unfavourable is None else 0.0


def _against_weight(finding: Finding | None) -> float:
    return _LIMIT_OF_OTHERS_WEIGHT if finding is not None and finding.of_others else _FAILURE_WEIGHT


def _support(found: list[Standing]) -> str:
    favourable = [standing for standing in found if standing.favourable][:_QUOTED]
    neutral = [standing for standing in found if not standing.favourable and not standing.unfavourable]
    told = [_favourable_sentence(standing, place, favourable[0]) for place, standing in enumerate(favourable)]
    if neutral:
        keys = listed([f"[{standing.key}]" for standing in neutral[:_LISTED]])
        told.append(f"{keys} {'works' if len(neutral[:_LISTED]) == 1 else 'work'} on something related {SILENT}")
    return " ".join(told) or f"{none_of(len(found), 'reports')} success with something close to this method."


def _favourable_sentence(standing: Standing, place: int, first: Standing) -> str:
    assert standing.favourable is not None
    said = quote(standing.favourable.sentence)
    if place == 0:
        return f"The closest favourable outcome is in [{standing.key}], which shares {listed(standing.shared)} with this plan: {said}."
    return f"{_when(standing, first, place)}[{standing.key}], on {listed(standing.shared)}, {_VERBS[place % len(_VERBS)]}: {said}."


_VERBS = ("reports", "adds", "states", "writes", "finds")


def _when(standing: Standing, first: Standing, place: int) -> str:
    """Set a paper in time against the closest one, once in each direction it matters."""
    if place > 2 or "undated" in (standing.published, first.published) or standing.published[:4] == first.published[:4]:
        return ""
    return "More recently, " if standing.published > first.published else "Earlier, "


def _contradictions(found: list[Standing]) -> str:
    unfavourable = [standing for standing in found if standing.unfavourable]
    unfavourable.sort(key=lambda standing: -standing.closeness_0_to_1 * _against_weight(standing.unfavourable))
    told = [_unfavourable_sentence(standing, place) for place, standing in enumerate(unfavourable[:_QUOTED])]
    return " ".join(told) or f"{none_of(len(found), 'reports')} a failure or limit of something close to this method."


def _unfavourable_sentence(standing: Standing, place: int) -> str:
    assert standing.unfavourable is not None
    said = quote(standing.unfavourable.sentence)
    about = listed(standing.shared)
    if standing.unfavourable.of_others:
        openings = (f"On {about}, [{standing.key}] names a limit of comparable work", f"[{standing.key}] sees a weakness around {about}")
    else:
        openings = (
            f"Working on {about}, [{standing.key}] reports an unfavourable outcome",
            f"[{standing.key}], on {about}, reports a failure or limit",
        )
    return f"{openings[place % 2]}: {said}."
