"""Baseline of `persona_review`: scores from what can be counted, reasons from the findings that count most."""

from collections.abc import Callable
from dataclasses import dataclass

from schemas.committee import IdeaPart, Relation
from tasks.committee.answers import DimensionReview, PersonaReply
from tasks.committee.baselines import measures
from tasks.committee.baselines.measures import Finding
from tasks.committee.questions import DimensionShown, PersonaQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.wording import quotable

_QUOTED = 2
_TESTING = (IdeaPart.METHODS, IdeaPart.EXPERIMENTAL_SETTINGS)
_PURPOSE = (IdeaPart.MOTIVATIONS, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.EXPECTED_RESULTS)
_CORE = (IdeaPart.TLDR, IdeaPart.RESEARCH_QUESTIONS, IdeaPart.METHODS)


@dataclass(frozen=True, slots=True)
class _Judgement:
    """`share` 0 to 1 becomes the score; `reason` says what was counted; findings on `parts` are quoted."""

    share: float
    reason: str
    parts: tuple[IdeaPart, ...] = tuple(IdeaPart)


async def review(question: PersonaQuestion, tools: BaselineTools) -> PersonaReply | NoAnswer:
    """One entry per dimension. The five shipped ones have measures of their own; another is judged by support and kinship."""
    del tools
    return PersonaReply(reviews=[_reviewed(question, dimension) for dimension in question.dimensions])


def _reviewed(question: PersonaQuestion, dimension: DimensionShown) -> DimensionReview:
    judge = _JUDGES.get(dimension.name)
    judgement = judge(question) if judge is not None else _other(question, dimension)
    score = min(max(10 * judgement.share + measures.leaning(question), 0.0), 10.0)
    return DimensionReview(
        dimension=dimension.name,
        review=" ".join((judgement.reason, *_quotations(question, judgement.parts), *_missing(question, judgement.parts))),
        score=round(score, 1),
    )


def _clarity(question: PersonaQuestion) -> _Judgement:
    complete, concrete, readable = measures.completeness(question), measures.concreteness(question), measures.readability(question)
    reason = (
        f"The text has {round(6 * complete)} of the six parts of an idea; {concrete:.0%} of its claims name a figure, a method or a term, "
        f"and its sentences are {'short enough to follow' if readable > 0.5 else 'long'}."
    )
    return _Judgement(0.5 * complete + 0.3 * concrete + 0.2 * readable, reason, ())


def _novelty(question: PersonaQuestion) -> _Judgement:
    near = measures.closeness(question.evidence, _CORE)
    reason = f"The nearest knowledge covers {near:.0%} of the idea's core, over its parts; the more it covers, the less is new."
    return _Judgement(1 - near, reason, _CORE)


def _feasibility(question: PersonaQuestion) -> _Judgement:
    found = measures.findings(question.evidence, _TESTING)
    planned = bool(measures.claims_of(question, IdeaPart.METHODS)) + bool(measures.claims_of(question, IdeaPart.EXPERIMENTAL_SETTINGS))
    support, at_hand = measures.support_share(found), any(each.kind == "code" for each in found)
    reason = (
        f"Methods and settings are {('absent', 'half there', 'both there')[planned]}; findings on them lean {_leaning(support)}"
        f"{', and code for them is at hand' if at_hand else ''}."
    )
    return _Judgement(0.35 * planned / 2 + 0.35 * support + 0.25 * measures.ease(question) + 0.05 * at_hand, reason, _TESTING)


def _validity(question: PersonaQuestion) -> _Judgement:
    found = measures.findings(question.evidence)
    support, tested = measures.support_share(found), bool(measures.claims_of(question, IdeaPart.EXPERIMENTAL_SETTINGS))
    supporting, refuting = (sum(each.found.relation == relation for each in found) for relation in (Relation.SUPPORTS, Relation.REFUTES))
    verdict = "described" if tested else "not described"
    reason = f"Findings that support its parts: {supporting}; that refute them: {refuting}. A test is {verdict}."
    return _Judgement(0.8 * support + 0.2 * tested, reason)


def _significance(question: PersonaQuestion) -> _Judgement:
    found = measures.findings(question.evidence, _PURPOSE)
    support, reach = measures.support_share(found), measures.reach(question)
    interest = min(len({each.key for each in found}) / 6, 1.0)
    reason = (
        f"Items that bear on its purpose: {len({each.key for each in found})}, leaning {_leaning(support)}; its words reach {_far(reach)}."
    )
    return _Judgement(0.4 * support + 0.3 * interest + 0.3 * reach, reason, _PURPOSE)


def _other(question: PersonaQuestion, dimension: DimensionShown) -> _Judgement:
    support = measures.support_share(measures.findings(question.evidence))
    kinship = measures.kinship(question, f"{dimension.name.replace('_', ' ')} {dimension.question}")
    reason = f"Findings lean {_leaning(support)}, and the idea shares {kinship:.0%} of the words in which this is asked."
    return _Judgement(0.6 * support + 0.4 * min(2 * kinship, 1.0), reason)


_JUDGES: dict[str, Callable[[PersonaQuestion], _Judgement]] = {
    "clarity": _clarity,
    "novelty": _novelty,
    "feasibility": _feasibility,
    "validity": _validity,
    "significance": _significance,
}


def _quotations(question: PersonaQuestion, parts: tuple[IdeaPart, ...]) -> list[str]:
    """The most relevant findings for and against, in the words of the knowledge."""
    quotable_findings = [each for each in measures.findings(question.evidence, parts) if each.found.evidence]
    found = list({(each.key, each.found.evidence): each for each in reversed(quotable_findings)}.values())[::-1]
    against = [each for each in found if each.found.relation == Relation.REFUTES][:_QUOTED]
    supporting = [each for each in found if each.found.relation == Relation.SUPPORTS][:_QUOTED]
    return [_quotation(each, "In support of") for each in supporting] + [_quotation(each, "Against") for each in against]


def _quotation(each: Finding, side: str) -> str:
    return f"{side} its {in_words(each.found.part)}: “{quotable(each.found.evidence)}” [{each.key}]."


def _missing(question: PersonaQuestion, parts: tuple[IdeaPart, ...]) -> list[str]:
    absent = [in_words(part.value) for part in (parts or tuple(IdeaPart)) if not measures.claims_of(question, part)]
    return [f"The idea does not say: {', '.join(absent)}."] if absent else []


def in_words(part: str) -> str:
    """The name of a part inside a sentence."""
    return "gist" if part == IdeaPart.TLDR else part.replace("_", " ")


def _leaning(support: float) -> str:
    return "toward it" if support > 0.55 else "against it" if support < 0.45 else "neither way"


def _far(reach: float) -> str:
    return "far" if reach > 0.6 else "beyond its niche" if reach > 0.2 else "no further than its niche"
