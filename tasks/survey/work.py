"""Declarations of surveys and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.identifiers import content_hash
from schemas.literature.survey import Survey, SurveyParameters
from schemas.literature.survey_review import ReviewPart, Written
from schemas.profile import AnswerParameters
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.survey_run import (
    SURVEYS,
    AskJob,
    AskOptions,
    SurveyHead,
    SurveyJob,
    SurveyOptions,
    SurveyQuestion,
    SurveyRequest,
    as_question,
)
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.judging.step import Step
from tasks.languages.translate import TRANSLATE, expected_translations
from tasks.shards.work import Cause
from tasks.survey.expected import expected_requests, expected_survey, steps_of
from tasks.survey.survey import failed_survey, survey
from tasks.work.declaration import Common, Expected, Result, Work
from tasks.work.tools import Tools

SUB_QUESTIONS, QUERIES_PER_SUB_QUESTION, PAPERS_PER_QUERY = 3, 2, 50
"""Searches for an answer."""
PAPERS_JUDGED, PAPERS_PER_READING_CALL = 60, 6
"""Papers for an answer, unless the options ask for more."""


def _questions(entry_or_entries: str | Sequence[str]) -> tuple[SurveyQuestion, ...]:
    """Return distinct questions; ids keep the order in which they were asked."""
    entries = (entry_or_entries,) if isinstance(entry_or_entries, str) else entry_or_entries
    texts = dict.fromkeys(map(as_question, entries))
    return tuple(
        SurveyQuestion(question_id=f"q{number:03d}-{content_hash(text, length=12)}", question=text)
        for number, text in enumerate(texts, start=1)
    )


def _survey(
    arguments: tuple[str | Sequence[str]], options: SurveyOptions, common: Common, _: Settings
) -> SurveyRequest:
    parameters = SurveyParameters(
        depth=options.depth,
        maximum_papers=options.max_papers,
        maximum_judged=options.max_judged,
        papers_read=options.papers_read,
    )
    return SurveyRequest(units=_questions(*arguments), parameters=parameters, **common)


def _ask(
    arguments: tuple[str | Sequence[str]], options: AskOptions, common: Common, _: Settings
) -> SurveyRequest:
    papers_read = options.papers_read or common["profile"].answers.papers_read
    parameters = answer_parameters(papers_read)
    return SurveyRequest(units=_questions(*arguments), parameters=parameters, **common)


def answer_parameters(papers_read: int = AnswerParameters().papers_read) -> SurveyParameters:
    """Return parameters of the search for an answer: a survey without hops."""
    return SurveyParameters(
        written=Written.ANSWER,
        depth=0,
        maximum_sub_questions=SUB_QUESTIONS,
        queries_per_sub_question=QUERIES_PER_SUB_QUESTION,
        papers_per_query=PAPERS_PER_QUERY,
        maximum_judged=max(PAPERS_JUDGED, 3 * papers_read),
        maximum_papers=max(PAPERS_JUDGED, papers_read),
        papers_read=papers_read,
        papers_per_reading_call=PAPERS_PER_READING_CALL,
    )


async def _follow(question: SurveyQuestion, tools: Tools) -> Survey:
    return await survey(
        question,
        tools.request.parameters,
        tools.request.cutoff_date,
        engine=tools.engine,
        literature=tools.literature(),
        embedder=tools.embedder,
        ledger=tools.ledger,
        documents=tools.full_texts,
    )


def _failed(question: SurveyQuestion, tools: Tools, cause: Cause) -> Survey:
    return failed_survey(question, tools.request.cutoff_date, *cause, tools.ledger)


def _translation(request: SurveyRequest) -> dict[Step[Any, Any], ExpectedCalls]:
    """Return the expected translation; empty if every question is in English."""
    calls = expected_translations(unit.question for unit in request.units)
    return {TRANSLATE: calls} if calls.calls else {}


def _expected(request: SurveyRequest, _: Settings) -> Expected:
    """Estimate a run before its first question is processed."""
    count = len(request.units)
    tokens = sum(len(each.question) for each in request.units) / CHARACTERS_PER_TOKEN
    by_name = {step.name: step for step in steps_of(request.parameters)}
    counts = expected_survey(request.parameters, full_text=request.full_text)
    literature = request.literature
    requests = expected_requests(
        request.parameters, unlimited=literature is not None and literature.unlimited
    )
    return Expected(
        per_step={
            by_name[name]: replace(
                step_calls,
                calls=count * step_calls.calls,
                data_tokens=count * step_calls.data_tokens
                + step_calls.calls
                * (tokens if "question" in by_name[name].input_model.model_fields else 0.0),
                answer_tokens=count * step_calls.answer_tokens,
                first_calls=(
                    None if step_calls.first_calls is None else count * step_calls.first_calls
                ),
            )
            for name, step_calls in counts.items()
        }
        | _translation(request),
        counts={"questions": count, "literature_requests": count * requests},
        note="a small field takes less, and sizes of answers may differ by half",
    )


def _head(request: SurveyRequest) -> Mapping[str, Any]:
    """Return head fields; only engines that write read works for a review."""
    parameters = request.parameters
    reads_papers = parameters.written is Written.ANSWER or not request.engine.is_baseline
    return {"papers_read": parameters.papers_read if reads_papers else 0}


def _result(head: SurveyHead, surveys: Sequence[Survey]) -> Result:
    failures = tuple(each.unscored_detail for each in surveys if each.kept_count is None)
    return Result(_state(head, surveys), in_order=not failures, lost=failures)


def _state(head: SurveyHead, surveys: Sequence[Survey]) -> str:
    if head.written is not Written.ANSWER:
        return "surveyed"
    if any(each.kept_count is None for each in surveys):
        return "failed"
    parts = [part for each in surveys for part in each.sections]
    answers = [part for part in parts if part.part is ReviewPart.ANSWER]
    if any(part.text for part in answers):
        return "answered"
    if any(part.unscored_reason is not Reason.NO_EVIDENCE for part in answers):
        return "failed"
    shows_passages = not answers and any(each.quotes for each in surveys)
    if shows_passages:
        return "passages"
    return "incomplete" if any(each.not_looked_count for each in surveys) else "not_found"


SURVEY: Work[SurveyQuestion, SurveyParameters, Survey] = Work(
    schema=SURVEYS,
    job=SurveyJob,
    given=lambda job, _: (job.question,),
    resolve=_survey,
    identity=("question_id", "question"),
    steps=lambda request: (*steps_of(request.parameters), *_translation(request)),
    do=_follow,
    failed=_failed,
    expects=_expected,
    head=_head,
    result=_result,
)
ASK = replace(SURVEY, job=AskJob, resolve=_ask)
