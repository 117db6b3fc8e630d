"""Extraction of an idea's methods and of queries for each (ScholarEval §2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure
from schemas.judgement.soundness import Method, PlanElement
from schemas.outcome import Provenance, Unscored
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.judging.step import with_shortening
from tasks.soundness.gathering import STAGE, Context
from tasks.soundness.steps.extract_methods import EXTRACT_METHODS, MethodsInput
from tasks.soundness.steps.soundness_query import SOUNDNESS_QUERY, MethodQuery, QueriesInput
from tasks.text.quotations import stands_in
from tasks.text.words import shorten_words


@dataclass(frozen=True, slots=True)
class ExtractedPlan:
    """Methods in order of importance, without queries, and elements that the plan rests on.

    `failures` explain an idea without methods.
    """

    methods: tuple[Method, ...] = ()
    elements: tuple[PlanElement, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class QueriedMethod:
    method: Method
    unscored: Unscored | None = None


async def find_methods(context: Context) -> ExtractedPlan:
    """Ask for the idea's methods.

    Quotes that do not occur in the idea become empty; methods beyond the limit are omitted and
    noted in the provenance.
    """
    idea, limit = context.idea, context.parameters.maximum_methods

    def failed(reason: Reason, detail: str) -> tuple[Failure, ...]:
        return (Failure(stage=STAGE, subject=idea.idea_id, reason=reason, detail=detail),)

    def verified_quote(quote: str) -> str:
        return quote.strip() if stands_in(quote, idea.text, least_characters=1) else ""

    question = MethodsInput(idea=idea.text, maximum_methods=limit)
    outcome = await context.engine.run(EXTRACT_METHODS, question)
    if isinstance(outcome, Unscored):
        detail = f"no methods could be extracted: {outcome.detail}"
        return ExtractedPlan(failures=failed(outcome.reason, detail))
    reply = outcome.value
    proposals = [each for each in reply.methods if each.text.strip()]
    omitted_count = len(proposals) - limit
    note = (
        f"{omitted_count} methods beyond the limit of {limit} left out"
        if omitted_count > 0
        else None
    )
    methods = tuple(
        Method(
            method_id=f"m{rank}",
            rank=rank,
            text=each.text.strip(),
            quote=verified_quote(each.quote),
            provenance=with_shortening(outcome.provenance, note),
        )
        for rank, each in enumerate(proposals[:limit], start=1)
    )
    usable = [
        (each, each.kind, each.standing)
        for each in reply.elements
        if each.kind is not None and each.standing is not None and each.text.strip()
    ]
    unusable_count = len(reply.elements) - len(usable)
    omission = (
        f"{unusable_count} of {len(reply.elements)} elements left out: no known kind or standing,"
        " or no text"
    )
    elements = tuple(
        PlanElement(
            element_id=f"e{number}",
            kind=kind,
            standing=standing,
            text=each.text.strip(),
            quote=verified_quote(each.quote),
            provenance=with_shortening(outcome.provenance, omission if unusable_count else None),
        )
        for number, (each, kind, standing) in enumerate(usable, start=1)
    )
    if not methods:
        detail = "the idea proposes no method; describe what would be done"
        return ExtractedPlan((), elements, failed(Reason.NOTHING_TO_JUDGE, detail))
    return ExtractedPlan(methods, elements)


async def ask_queries(context: Context, methods: Sequence[Method]) -> tuple[QueriedMethod, ...]:
    """Add queries of at most `query_word_limit` words to each method, in order.

    A longer query is cut, which the provenance notes.
    """
    parameters = context.parameters
    outcome = await context.engine.run(
        SOUNDNESS_QUERY,
        QueriesInput(
            idea=context.idea.text,
            methods=tuple(method.text for method in methods),
            word_limit=parameters.query_word_limit,
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
        detail = "the reply has no query for this method"
        return QueriedMethod(method, Unscored(Reason.REPLY_UNPARSABLE, detail, query_provenance))
    texts = list(filter(None, dict.fromkeys(" ".join(each.split()) for each in answer.queries)))
    if not texts:
        empty = Unscored(Reason.REPLY_EMPTY, "the query is empty", query_provenance)
        return QueriedMethod(method, empty)
    omitted_query_count = len(texts) - parameters.queries_per_method
    failure_text = " ".join(answer.failure_query.split()) if parameters.search_failures else ""
    limit = parameters.query_word_limit
    shortened_texts = [
        shorten_words(text, limit)
        for text in (*texts[: parameters.queries_per_method], failure_text)
    ]
    notes = [
        f"query cut to {limit} words, {omitted_words} left out"
        for _, omitted_words in shortened_texts
        if omitted_words
    ]
    if omitted_query_count > 0:
        notes.append(f"{omitted_query_count} queries beyond those asked for left out")
    *queries, failure_query = (text for text, _ in shortened_texts)
    provenance = replace(
        with_shortening(method.provenance, "; ".join(notes) or None),
        call_ids=(*method.provenance.call_ids, *query_provenance.call_ids),
    )
    return QueriedMethod(
        replace(
            method,
            queries=tuple(queries),
            failure_query=failure_query or None,
            provenance=provenance,
        )
    )
