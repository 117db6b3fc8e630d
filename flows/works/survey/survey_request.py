"""The options of `assay survey` and `assay ask`, resolved into a `SurveyRequest`:
every mistake named in one line.
"""

from collections.abc import Sequence

from flows.profiles import load_profile
from flows.works.evaluate.request import (
    check_api_base,
    check_judging,
    check_warehouse,
    resolve_literature,
    wants_full_text,
)
from schemas.identifiers import content_hash
from schemas.literature.survey import SurveyParameters
from schemas.literature.survey_review import Written
from schemas.literature.survey_run import SurveyQuestion, SurveyRequest, as_question
from schemas.options.commands import AskOptions, QuestionOptions, SurveyOptions
from schemas.profile import AnswerParameters
from schemas.settings import Settings

SUB_QUESTIONS, QUERIES_PER_SUB_QUESTION, PAPERS_PER_QUERY = 3, 2, 50
"""Of the searches for an answer."""
PAPERS_JUDGED, PAPERS_PER_READING_CALL = 60, 6
"""For an answer, where the options ask for no more."""


def resolve_survey(
    questions: Sequence[str], options: SurveyOptions, settings: Settings
) -> SurveyRequest:
    """Resolve the options of `assay survey`; a question asked twice is surveyed once.

    Raises:
        ConfigurationError: an option that cannot be understood or met.
    """
    return _resolved(
        questions,
        options,
        SurveyParameters(
            depth=options.depth,
            maximum_papers=options.max_papers,
            maximum_judged=options.max_judged,
            papers_read=options.papers_read,
        ),
        settings,
        reads=options.papers_read > 0,
    )


def resolve_ask(question: str, options: AskOptions, settings: Settings) -> SurveyRequest:
    """Resolve the options of `assay ask`: a survey by searches alone, and an answer from it.

    Raises:
        ConfigurationError: as `resolve_survey`.
    """
    read = options.papers_read or load_profile(options.profile).answers.papers_read
    return _resolved((question,), options, answer_parameters(read), settings, reads=True)


def answer_parameters(papers_read: int = AnswerParameters().papers_read) -> SurveyParameters:
    """How far the search for an answer goes."""
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


def _resolved(
    questions: Sequence[str],
    options: QuestionOptions,
    parameters: SurveyParameters,
    settings: Settings,
    *,
    reads: bool,
) -> SurveyRequest:
    check_warehouse(options.warehouse)
    check_api_base(options.api_base, options.engine)
    profile = load_profile(options.profile)
    check_judging(profile, options.engine)
    literature = resolve_literature(options.literature, settings)
    return SurveyRequest(
        questions=tuple(
            _question(number, text)
            for number, text in enumerate(dict.fromkeys(map(as_question, questions)), start=1)
        ),
        warehouse=options.warehouse.resolve(),
        profile=profile,
        engine=options.engine,
        api_base=options.api_base,
        literature=literature,
        parameters=parameters,
        full_text=reads
        and not options.engine.is_baseline
        and wants_full_text(options.full_text, literature),
        cutoff_date=options.cutoff,
        workers=options.workers,
        scheduler_address=options.scheduler,
        budget=options.budget,
    )


def _question(number: int, text: str) -> SurveyQuestion:
    """Its name keeps the order in which questions were asked."""
    question_id = f"q{number:03d}-{content_hash(text, length=12)}"
    return SurveyQuestion(question_id=question_id, question=text)
