"""Extraction of an idea's methods and of queries for each (ScholarEval §2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.soundness import Method, PlanElement
from schemas.outcome import Provenance, Scored, Unscored
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.judging.step import Engine, with_shortening
from tasks.soundness.gathering import STAGE
from tasks.soundness.steps.extract_methods import EXTRACT_METHODS, MethodsInput, MethodsReply
from tasks.soundness.steps.soundness_query import SOUNDNESS_QUERY, MethodQuery, QueriesInput
from tasks.text.quotations import stands_in
from tasks.text.words import shorten_words


@dataclass(frozen=True, slots=True)
class ExtractedPlan:
    """Methods in order of importance, without queries, and elements that the plan rests on.

    `failures` explain an idea without methods.
    """

    methods: tuple[Method, ...]
    elements: tuple[PlanElement, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class QueriedMethod:
    method: Method
    unscored: Unscored | None


async def find_methods(
    idea: Idea, parameters: SoundnessParameters, engine: Engine
) -> ExtractedPlan:
    """Ask for the idea's methods.

    Quotes that do not occur in the idea become empty; methods beyond the limit are omitted and
    noted in the provenance.
    """
    outcome = await engine.run(
        EXTRACT_METHODS, MethodsInput(idea=idea.text, maximum_methods=parameters.maximum_methods)
    )
    if isinstance(outcome, Unscored):
        detail = f"no methods could be extracted: {outcome.detail}"
        return ExtractedPlan((), (), (_failure(idea, outcome.reason, detail),))
    methods = _methods(idea, outcome, parameters.maximum_methods)
    elements = _elements(idea, outcome)
    if not methods:
        detail = "the idea proposes no method; describe what would be done"
        return ExtractedPlan((), elements, (_failure(idea, Reason.NOTHING_TO_JUDGE, detail),))
    return ExtractedPlan(methods, elements, ())


def _failure(idea: Idea, reason: Reason, detail: str) -> Failure:
    return Failure(stage=STAGE, subject=idea.idea_id, reason=reason, detail=detail)


def _methods(idea: Idea, outcome: Scored[MethodsReply], limit: int) -> tuple[Method, ...]:
    usable = [method for method in outcome.value.methods if method.text.strip()]
    note = (
        f"{len(usable) - limit} methods beyond the limit of {limit} left out"
        if len(usable) > limit
        else None
    )
    return tuple(
        Method(
            method_id=f"m{rank}",
            rank=rank,
            text=method.text.strip(),
            quote=_verified_quote(method.quote, idea),
            provenance=with_shortening(outcome.provenance, note),
        )
        for rank, method in enumerate(usable[:limit], start=1)
    )


def _elements(idea: Idea, outcome: Scored[MethodsReply]) -> tuple[PlanElement, ...]:
    elements: list[PlanElement] = []
    unusable_count = 0
    for element in outcome.value.elements:
        if element.kind is None or element.standing is None or not element.text.strip():
            unusable_count += 1
            continue
        elements.append(
            PlanElement(
                element_id=f"e{len(elements) + 1}",
                kind=element.kind,
                standing=element.standing,
                text=element.text.strip(),
                quote=_verified_quote(element.quote, idea),
                provenance=outcome.provenance,
            )
        )
    proposed_count = len(outcome.value.elements)
    note = f"{unusable_count} of {proposed_count} elements left out: no known kind or standing, or no text"
    return tuple(
        replace(each, provenance=with_shortening(each.provenance, note if unusable_count else None))
        for each in elements
    )


def _verified_quote(quote: str, idea: Idea) -> str:
    return quote.strip() if stands_in(quote, idea.text, least_characters=1) else ""


async def ask_queries(
    idea: Idea, methods: Sequence[Method], parameters: SoundnessParameters, engine: Engine
) -> tuple[QueriedMethod, ...]:
    """Add queries of at most `query_word_limit` words to each method, in order.

    A longer query is cut, which the provenance notes.
    """
    limit = parameters.query_word_limit
    outcome = await engine.run(
        SOUNDNESS_QUERY,
        QueriesInput(
            idea=idea.text,
            methods=tuple(method.text for method in methods),
            word_limit=limit,
            queries_per_method=parameters.queries_per_method,
            search_failures=parameters.search_failures,
        ),
    )
    if isinstance(outcome, Unscored):
        return tuple(QueriedMethod(method, outcome) for method in methods)
    answers: dict[int, MethodQuery] = {}
    for answer in outcome.value.queries:
        answers.setdefault(answer.method, answer)
    return tuple(
        _with_queries(method, answers.get(number), parameters, outcome.provenance)
        for number, method in enumerate(methods, start=1)
    )


def _with_queries(
    method: Method,
    answer: MethodQuery | None,
    parameters: SoundnessParameters,
    query_provenance: Provenance,
) -> QueriedMethod:
    if answer is None:
        return QueriedMethod(
            method,
            Unscored(
                Reason.REPLY_UNPARSABLE, "the reply has no query for this method", query_provenance
            ),
        )
    queries_in_reply = [
        query for query in dict.fromkeys(map(_single_spaced, answer.queries)) if query
    ]
    if not queries_in_reply:
        return QueriedMethod(
            method, Unscored(Reason.REPLY_EMPTY, "the query is empty", query_provenance)
        )
    beyond = len(queries_in_reply) - parameters.queries_per_method
    failure = _single_spaced(answer.failure_query) if parameters.search_failures else ""
    limit = parameters.query_word_limit
    shortened_queries = [
        shorten_words(query, limit)
        for query in (*queries_in_reply[: parameters.queries_per_method], failure)
    ]
    notes = [
        f"query cut to {limit} words, {omitted_words} left out"
        for _, omitted_words in shortened_queries
        if omitted_words
    ] + ([f"{beyond} queries beyond those asked for left out"] if beyond > 0 else [])
    provenance = replace(
        with_shortening(method.provenance, "; ".join(notes) or None),
        call_ids=(*method.provenance.call_ids, *query_provenance.call_ids),
    )
    *queries, (failure, _) = ((query, omitted_words) for query, omitted_words in shortened_queries)
    return QueriedMethod(
        replace(
            method,
            queries=tuple(query for query, _ in queries),
            failure_query=failure or None,
            provenance=provenance,
        ),
        None,
    )


def _single_spaced(query: str) -> str:
    return " ".join(query.split())
